"""The results of an experiment, its picture, and the specifications in the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat_lab.varga.outcome import lines
from rheostat_lab.varga.spec import EXPERIMENTS, Spec, read_spec
from rheostat_lab.varga.varga_plot import draw

ROOT = Path(__file__).parents[4]
LOADS = [
    {"size_mb": size, "parallelism": tasks, "mean_s": size / 100, "max_s": size / 50 + tasks % 2}
    for size in (20, 50, 100)
    for tasks in (5, 8)
]
SNAPSHOTS = [
    {"size_mb": size, "parallelism": tasks, "whole_s": size / 10, "later_s": 0.1}
    for size in (20, 50, 100)
    for tasks in (1, 3)
]
DOWN = [
    {"way": way, "size_mb": size, "parallelism": to, "downtime_s": to + size / 10}
    for way in ("live", "restart")
    for size in (20, 50)
    for to in (2, 3)
]


def test_load_times_are_printed_with_their_fit_and_the_published_value() -> None:
    output = lines(Spec(experiment="load-by-size", sizes_mb=(20, 50, 100)), LOADS)
    assert "size_mb 20: mean over tasks 0.200 s (0.200 to 0.200, n 2)" in output
    assert "mean_s: 0.000 s + 0.01000 s x, R² 1.000, n 6" in output
    assert output[-1].startswith("published: Figure 4")


def test_divisors_are_compared_with_other_parallelisms() -> None:
    output = lines(Spec(experiment="load-by-parallelism", parallelism=(5, 8)), LOADS)
    assert any(line.startswith("divisors: longest task over mean 2.00 (n 3)") for line in output)
    assert any(line.startswith("others: longest task over mean") for line in output)


def test_downtimes_are_listed_per_cell_and_unknown_ones_omitted() -> None:
    spec = Spec(experiment="downtime", sizes_mb=(20, 50), ways=("live", "restart"))
    unknown = {"way": "live", "size_mb": 20, "parallelism": 4, "downtime_s": None}
    output = lines(spec, [*DOWN, unknown])
    assert "live, 20 MB, to 2 executors: 4.0 s (4.0 to 4.0, n 1)" in output
    assert not any("to 4 executors" in line for line in output)


def test_snapshots_are_listed_by_parallelism_with_separate_fits() -> None:
    output = lines(Spec(experiment="snapshot", sizes_mb=(20, 50), parallelism=(1, 3)), SNAPSHOTS)
    assert "parallelism 3, 50 MB: whole snapshot 5.000 s (5.000 to 5.000, n 1)" in output
    assert "whole_s, parallelism 1: 0.000 s + 0.10000 s x, R² 1.000, n 3" in output


ROWS = {"snapshot": SNAPSHOTS, "load-by-size": LOADS, "load-by-parallelism": LOADS}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_has_a_plot(tmp_path: Path, experiment: str) -> None:
    spec = Spec(
        experiment=experiment, sizes_mb=(20, 50), parallelism=(1, 3), ways=("live", "restart")
    )
    draw(spec, ROWS.get(experiment, DOWN), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("varga-*.yaml")), ids=str)
def test_the_committed_specifications_are_valid(path: Path) -> None:
    assert read_spec(path).repetitions >= 1


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("experiment: speed", "but it is 'speed'"),
        ("experiment: downtime\nsize: 3", "has 'size'; it may have"),
        ("sizes_mb: [3]", "must say experiment"),
        ("experiment: downtime\nsizes_mb: [0]", "sizes_mb must be whole numbers from 1"),
        ("experiment: downtime\nsizes_mb: []", "but there is 'nothing'"),
        ("experiment: downtime\nways: [magic]", "one is 'magic'"),
        ("experiment: load-by-size\nparallelism: [99]", "at most partitions (24)"),
        ("[1", "cannot be read as YAML"),
        ("- 1", "must have names and values"),
    ],
)
def test_an_invalid_specification_is_rejected_in_one_line(
    tmp_path: Path, text: str, output: str
) -> None:
    (tmp_path / "spec.yaml").write_text(text)
    with pytest.raises(BadInput) as refused:
        read_spec(tmp_path / "spec.yaml")
    assert output in str(refused.value)
    assert "\n" not in str(refused.value)
