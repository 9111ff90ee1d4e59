"""The runs that a specification defines, and the specifications that are rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rheostat.cli.app import run
from rheostat_lab.experiment_file import spec_of, values_of
from rheostat_lab.matrix.matrix_spec import MatrixSpec

ROOT = Path(__file__).parents[4]
GOOD: dict[str, Any] = {
    "experiment": "matrix",
    "minutes": 4,
    "queries": ["q1", "q3"],
    "loads": {"day": "day:low=200,peak=900", "q3": "cosine:shift=900,amplitude=500"},
    "policies": ["predictive", {"policy": "fixed", "set": {"executors": [2, 3]}}],
    "seeds": [7, 8],
}


def spec(**changed: Any) -> MatrixSpec:
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in {**GOOD, **changed}.items()
    }
    return MatrixSpec(**given)


def allocating(**given: Any) -> dict[str, Any]:
    return {"policy": "spark-dynamic-allocation", "set": given}


@pytest.mark.parametrize(("name", "runs"), [("live-policies", 60), ("thesis-spark", 252)])
def test_the_committed_specifications_are_valid(name: str, runs: int) -> None:
    path = ROOT / "experiments" / f"{name}.yaml"
    kept = spec_of(MatrixSpec, path, values_of(path))
    assert len(list(kept.cells())) == runs
    assert kept.sizings()[0] == "predictive"


def test_every_prefix_of_the_runs_is_a_fair_comparison() -> None:
    names = [cell.name for cell in spec().cells()]
    assert names[:6] == [
        "q1-day-predictive-7",
        "q1-day-fixed-executors=2-7",
        "q3-predictive-7",
        "q3-fixed-executors=2-7",
        "q1-day-fixed-executors=3-7",
        "q3-fixed-executors=3-7",
    ]
    assert [name.replace("-8", "-7") for name in names[6:]] == names[:6]


def test_a_run_is_a_demo_with_its_load_and_seed() -> None:
    (cell, *_) = [cell for cell in spec(limits=[1, 8], slo=5).cells() if cell.query == "q3"]
    demo = spec(limits=[1, 8], slo=5).demo(cell, Path("out"))
    assert (demo.load_text, demo.load_seed) == ("cosine:shift=900,amplitude=500", 7)
    assert (demo.seconds, demo.max_executors, demo.slo.latency_s) == (240, 8, 5)


def test_a_fixed_size_is_configured_from_the_start() -> None:
    fixed = spec(policies=[{"policy": "fixed", "set": {"executors": 3}}])
    demo = fixed.demo(next(fixed.cells()), Path("out"))
    assert (demo.min_executors, demo.max_executors) == (3, 4)


def test_policies_begin_at_the_given_size_and_fixed_ones_at_their_own() -> None:
    given = spec(start=2, policies=["hpa", {"policy": "fixed", "set": {"executors": 3}}])
    hpa, fixed, *_ = (given.demo(cell, Path("out")) for cell in given.cells())
    assert (hpa.start, hpa.min_executors) == (2, 1)
    assert (fixed.start, fixed.min_executors) == (None, 3)
    assert given.conditions()["start"] == 2


def test_dynamic_allocation_can_be_listed_among_the_policies() -> None:
    tuned = {"policy": "spark-dynamic-allocation", "set": {"executorIdleTimeout": "5s"}}
    cells = list(spec(policies=["spark-dynamic-allocation", tuned]).cells())
    assert spec().demo(cells[0], Path("out")).policy == "spark-dynamic-allocation"
    assert cells[-1].sizing == "spark-dynamic-allocation executorIdleTimeout=5s"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"experiment": "speed"}, "experiment must be one of downtime"),
        ({"experiment": None}, "must say experiment: downtime"),
        ({"query": ["q1"]}, "has 'query'; it may have cluster"),
        ({"queries": "q1"}, "queries must be a list, as [a, b], but it is 'q1'"),
        ({"queries": ["q7"]}, "there is no query 'q7'"),
        ({"queries": []}, "queries must be a list"),
        ({"queries": [1]}, "queries are names, as [q1, q3], but one is 1"),
        ({"queries": [["q1"]]}, "but one is ['q1']"),
        ({"policies": ["magic"]}, "unknown policy 'magic'"),
        ({"policies": [{"policy": "hpa", "set": {"speed": 1}}]}, "speed"),
        ({"policies": [{"name": "hpa"}]}, "a policy is a name, or a mapping with policy and set"),
        ({"policies": ["hpa", "hpa"]}, "the run q1-day-hpa-7 occurs twice"),
        ({"policies": [{"policy": "fixed", "set": {"executors": []}}]}, "one value at least"),
        ({"policies": [allocating(executorIdleTimout="3s")]}, "but not executorIdleTimout 3s"),
        ({"policies": [allocating(executorIdleTimeout="soon")]}, "a time, such as 3s, but it is"),
        ({"policies": [allocating(executorAllocationRatio=2)]}, "must be between 0 and 1"),
        ({"seeds": ["seven"]}, "whole numbers, but one is 'seven'"),
        ({"seeds": [True]}, "but one is True"),
        ({"seeds": [-1]}, "seed must be between 0"),
        ({"minutes": "long"}, "minutes must be a number, but it is 'long'"),
        ({"minutes": 0.1}, "too short"),
        ({"loads": {}}, "loads must be a mapping"),
        ({"loads": {"day": "noon:low=3"}}, "noon"),
        ({"loads": {"day": 900}}, "a load is a name and a text, such as day: day:low=200"),
        ({"loads": {"day": None}}, "but one is day: None"),
        ({"loads": {1: "day"}}, "but one is 1: day"),
        ({"loads": {"q3": "day"}}, "loads has none for q1"),
        (
            {"loads": {"q1": "day", "q3": "day", "low": "day"}},
            "no query is played with the load low",
        ),
        ({"cooldown_in_s": "none"}, "cooldown_in_s must be a number, but it is 'none'"),
        ({"limits": [5, 2]}, "min executors (5) is above max executors (2)"),
        ({"start": 9}, "start must be within the limits (1, 4), but it is 9"),
        ({"start": "many"}, "whole numbers, but one is 'many'"),
        ({"limits": [1]}, "limits are two numbers"),
        ({"limits": 4}, "limits must be a list, as [1, 4], but it is 4"),
        ({"cluster": "mesos"}, "mesos"),
        ({"hours": 0.1}, "runs take about"),
    ],
)
def test_an_invalid_specification_is_rejected_in_one_line_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], message: str
) -> None:
    path, out = tmp_path / "spec.yaml", tmp_path / "out"
    path.write_text(yaml.safe_dump({**GOOD, **change}))
    assert run(["lab", "run", str(path), "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


def test_a_load_named_after_a_query_is_played_by_no_other_query() -> None:
    one = spec(queries=["q1"], loads={"day": "day", "q3": "constant:rate=9"})
    assert {cell.load for cell in one.cells()} == {"day"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("experiment: matrix\n\tminutes: 4\n", "line 2: found character"),
        ("loads:\n  low: cosine:shift=1, amplitude: 3\n", "line 2: mapping values"),
        ("seeds: [1]\nseeds: [2]\n", "seeds occurs twice"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_is_no_yaml_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    path = tmp_path / "spec.yaml"
    if text:
        path.write_text(text)
    assert run(["lab", "run", str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


def test_a_missing_key_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("experiment: matrix\nminutes: 4\nqueries: [q1]\n")
    assert run(["lab", "run", str(path)]) == 2
    assert "must say loads" in capsys.readouterr().err
