from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from rheostat.cli.app import run as command
from rheostat.errors import BadInput
from rheostat.sim.measures import ELASTICITY
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.text import parse, with_seed
from rheostat_lab.sweep.runner import here, rows, run_cell, sweep
from rheostat_lab.sweep.sweep_cell import BOUNDS, Cell
from rheostat_lab.sweep.sweep_plant import demand_of
from rheostat_lab.sweep.sweep_spec import read_spec
from rheostat_lab.sweep.sweep_summary import interval, summary

LOAD = "cosine:shift=2000,amplitude=1500,noise=200,period_s=900"
SPEC = f"""
minutes: 6
interval_s: 30
slo: 30
limits: [1, 8]
rescale_cost: 10
seeds: 2
plants:
  small: {{executors: 2, trigger_s: 10}}
loads:
  wave: {LOAD}
policies:
  - fixed
  - {{policy: spark-batch-ratio, set: {{up_ratio: [0.7, 0.9]}}}}
guards: {{cooldown_in_s: [0, 60]}}
"""


def _spec(folder: Path, text: str = SPEC) -> Path:
    file = folder / "spec.yaml"
    file.write_text(text)
    return file


def test_a_spec_is_the_product_of_its_lists(tmp_path: Path) -> None:
    cells = read_spec(_spec(tmp_path))
    assert len(cells) == 2 * 3 * 2  # seeds x policies with their parameters x guards
    assert len({cell.key for cell in cells}) == len(cells)
    assert {json.dumps(cell.parameters) for cell in cells} == {
        "{}",
        '{"up_ratio": 0.7}',
        '{"up_ratio": 0.9}',
    }
    assert {cell.guards["cooldown_in_s"] for cell in cells} == {0, 60}


def test_a_cell_survives_a_round_trip_through_text(tmp_path: Path) -> None:
    for cell in read_spec(_spec(tmp_path)):
        assert Cell.of(cell.text) == cell
        assert Cell.of(cell.text).key == cell.key


def test_bounds_are_one_cell_per_spark_plant_load_and_seed(tmp_path: Path) -> None:
    text = SPEC + "bounds: true\n"
    text = text.replace("loads:", "  flink: {kind: flink, rate_per_s: 900, executors: 3}\nloads:")
    bounds = [cell for cell in read_spec(_spec(tmp_path, text)) if cell.policy == BOUNDS]
    assert [(cell.plant, cell.seed) for cell in bounds] == [("small", 0), ("small", 1)]


def test_every_seed_gives_a_different_course_of_the_load(tmp_path: Path) -> None:
    first, second = (
        cell.workload
        for cell in read_spec(_spec(tmp_path))
        if cell.policy == "fixed" and cell.guards["cooldown_in_s"] == 0
    )
    assert first == Cosine(shift=2000, amplitude=1500, noise=200, period_s=900, seed=7)
    assert second == Cosine(shift=2000, amplitude=1500, noise=200, period_s=900, seed=8)
    assert with_seed(parse("2 * walk + constant"), 3) == parse("2 * walk:seed=10 + constant")


@pytest.mark.parametrize(
    "kind", ["small: {executors: 2}", "small: {kind: flink, rate_per_s: 1500, executors: 2}"]
)
def test_a_run_has_measures_and_equal_cells_have_equal_rows(tmp_path: Path, kind: str) -> None:
    cell = read_spec(_spec(tmp_path, SPEC.replace("small: {executors: 2, trigger_s: 10}", kind)))[
        -1
    ]
    (row,) = run_cell(cell)
    assert [row] == run_cell(cell)
    assert row["cost"] == pytest.approx(row["slot_hours"] * 3600 + 10 * row["rescalings"])
    assert row["latency_mean_s"] > 0
    assert 1 <= row["executors_mean"] <= 8


def test_the_warm_up_is_excluded_from_the_objective_but_not_from_the_cost(
    tmp_path: Path,
) -> None:
    full, later = (
        read_spec(_spec(tmp_path, SPEC + f"warm_up_s: {warm_up_s}\n"))[0] for warm_up_s in (0, 120)
    )
    (first,), (second,) = run_cell(full), run_cell(later)
    assert second["slot_hours"] == pytest.approx(first["slot_hours"] * 240 / 360)
    assert second["cost"] == first["cost"] == 2 * 360


def test_rows_are_stable_since_before_faults_and_elasticity(
    tmp_path: Path,
) -> None:
    results = {
        (row["policy"], row["seed"]): row
        for cell in read_spec(_spec(tmp_path))[::3]
        for row in run_cell(cell)
    }
    spark = results["fixed", 0]
    assert (spark["key"], spark["cost"], spark["rescalings"]) == ("f96af176f58cd412", 720, 0)
    assert [
        spark[name] for name in ("latency_mean_s", "latency_p99_s", "lag_max_rows")
    ] == pytest.approx([8.80186206898444, 14.099860561601773, 51741.60373164152])
    flink = SPEC.replace(
        "small: {executors: 2, trigger_s: 10}",
        "small: {kind: flink, rate_per_s: 1500, executors: 2}",
    )
    (row,) = run_cell(read_spec(_spec(tmp_path, flink))[0])
    assert row["key"] == "5b1e129205e099cc"
    assert [
        row[name] for name in ("latency_mean_s", "latency_p99_s", "lag_max_rows")
    ] == pytest.approx([26.761245938938814, 41.679581757686165, 133282.43610401248])


def test_a_run_is_compared_with_the_demand_of_its_plant(tmp_path: Path) -> None:
    steps = SPEC.replace(LOAD, "steps:levels=2000,20000,hold_s=180").replace(
        "executors: 2,", "executors: 4,"
    )
    (row,) = run_cell(
        read_spec(_spec(tmp_path, steps))[0]
    )  # four executors all the time, for 3 minutes more than necessary
    low, high = demand_of(read_spec(_spec(tmp_path, steps))[0]).at(np.array([2_000.0, 20_000.0]))
    assert low < 4 < high
    assert (row["timeshare_over"], row["timeshare_under"]) == (50, 50)
    assert row["accuracy_over"] == pytest.approx(50 * (4 - low) / low)
    assert row["accuracy_under"] == pytest.approx(50 * (high - 4) / high)
    assert (row["adaptations_per_h"], row["jitter_per_h"]) == (0, -10)
    assert row["instability"] == pytest.approx(20)


def test_the_demand_of_a_plant_is_computed_once(
    tmp_path: Path,
) -> None:
    more = SPEC.replace(
        "loads:", "  large: {executors: 7, trigger_s: 10}\nloads:\n  flat: constant:rate=900"
    )
    cells = read_spec(_spec(tmp_path, more))
    assert len({id(demand_of(cell)) for cell in cells}) == 1
    other = read_spec(_spec(tmp_path, more.replace("slo: 30", "slo: 15")))[0]
    assert (
        demand_of(other).at(np.array([9_000.0])) >= demand_of(cells[0]).at(np.array([9_000.0]))
    ).all()


def test_rows_from_before_elasticity_are_read_without_it(tmp_path: Path) -> None:
    from pyarrow import Table, parquet

    (row,) = run_cell(read_spec(_spec(tmp_path))[0])
    old = {name: value for name, value in row.items() if name not in {*ELASTICITY, "faults"}}
    parquet.write_table(Table.from_pylist([old]), tmp_path / "rows-1.parquet")
    assert rows(tmp_path) == [{**row, **dict.fromkeys(ELASTICITY)}]
    (entry,) = summary(rows(tmp_path))
    assert (entry["faults"], entry["accuracy_under"]) == ("", None)


def test_existing_rows_are_kept_and_an_interrupted_sweep_continues(tmp_path: Path) -> None:
    cells, folder = read_spec(_spec(tmp_path)), tmp_path / "rows"
    ran: list[int] = []

    def dies_in_the_third_chunk(texts: Sequence[str]) -> Iterable[str]:
        ran.append(len(texts))
        if len(ran) == 3:
            raise KeyboardInterrupt
        return here(texts)

    with pytest.raises(KeyboardInterrupt):
        sweep(cells, folder, dies_in_the_third_chunk, chunk=5)
    assert len(rows(folder)) == 10
    progress: list[tuple[int, int]] = []
    sweep(cells, folder, here, chunk=5, done=lambda ended, total: progress.append((ended, total)))
    assert progress == [(10, 12), (12, 12)]
    sweep(cells, folder, dies_in_the_third_chunk)
    assert ran == [5, 5, 2]  # nothing was left for the fourth call
    complete = tmp_path / "whole"
    sweep(cells, complete, here)
    assert rows(folder) == rows(complete)


def test_a_truncated_file_is_not_a_result(tmp_path: Path) -> None:
    (tmp_path / "rows-1.parquet.part").write_bytes(b"PAR1")
    assert rows(tmp_path) == []
    (tmp_path / "rows-1.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadInput, match=r"rows-1.parquet cannot be read as a result of a sweep"):
        rows(tmp_path)


def test_the_summary_pairs_seeds_with_the_best_fixed_size_and_the_bound() -> None:
    place = {"plant": "p", "load": "l", "parameters": "{}", "guards": "{}", "attained": True}
    numbers = dict.fromkeys(
        ("latency_mean_s", "latency_p99_s", "executors_mean", "rescalings"), 1.0
    )
    costs = {"(best static)": (100, 200), "(clairvoyant)": (50, 100), "mine": (75, 120)}
    runs = [(policy, seed, cost) for policy in costs for seed, cost in enumerate(costs[policy])]
    result = summary(
        [
            {**place, **numbers, "policy": policy, "seed": seed, "cost": cost}
            for policy, seed, cost in runs
        ]
    )
    mine = next(entry for entry in result if entry["policy"] == "mine")
    assert mine["score"]["mean"] == pytest.approx((0.5 + 0.8) / 2)
    assert mine["cost"] == {"mean": 97.5, "low": 75.0, "high": 120.0}
    assert (mine["seeds"], mine["attained"]) == (2, 1.0)


def test_an_interval_covers_the_mean_and_shrinks_with_the_seeds() -> None:
    drawn = np.random.default_rng(1).normal(10, 2, 400)
    few, many = interval(drawn[:10]), interval(drawn)
    assert few.low < few.mean < few.high
    assert many.high - many.low < (few.high - few.low) / 3
    assert many.high - many.low == pytest.approx(2 * 1.96 * 2 / 20, rel=0.15)


WRONG = """
minutes: 0
intervall_s: 15
limits: [9, 2]
seeds: 0
plants:
  small: {executors: 2, triger_s: 10, fixed_s: -1}
  odd: {kind: storm}
loads:
  none: constant:rate=0
  wild: cosine:shift=-5
  gone: trace:file=nowhere.csv
policies:
  - clever
  - {policy: hpa, set: {tempo: 3}}
  - {policy: threshold, settings: {}}
guards: {cooldown_in_s: -5, cooldown: 3}
"""


def test_all_errors_of_a_spec_are_reported_at_once_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        read_spec(_spec(tmp_path, WRONG))
    message = str(error.value)
    for part in (
        "line 2, minutes: must be a number above 0, but it is 0",
        "line 3, intervall_s: is not known here",
        "line 5, seeds: is a number of seeds of at least 1",
        "line 7, plants.small: the parameters of the Spark plant: there is no parameter 'triger_s'",
        "fixed_s must be at least 0",
        "line 8, plants.odd: kind must be one of spark, flink, but it is 'storm'",
        "line 11, loads.wild: shift must be a number of at least 0",
        "line 12, loads.gone: there is no recorded load nowhere.csv",
        "line 14, policies[0]: unknown policy 'clever'",
        "line 15, policies[1]: policy hpa has no parameter 'tempo'",
        "policies[2].settings: is not known here",
        "line 17, guards.cooldown: is not known here",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("limits: [1, 8]", "limits: [8, 1]"),
            r"line 5, limits: min executors \(8\) is above max executors \(1\)",
        ),
        (
            ("executors: 2", "executors: 9"),
            "line 9, plants.small: starts with 9 executors, outside the limits 1 to 8",
        ),
        ((LOAD, "constant:rate=0"), "loads.wave: 'constant:rate=0' contains no rows in 6 minutes"),
        (
            ("minutes: 6", "minutes: 0.1"),
            "minutes: must last longer than interval_s and warm_up_s, but a run lasts 6 s",
        ),
        (("- fixed", "- fixed\n  - fixed"), r"policies\[1\]: fixed {} occurs twice"),
        (
            ("cooldown_in_s: [0, 60]", "cooldown_in_s: [0, -60]"),
            "guards: cooldown in_s must be 0 seconds or more, but it is -60",
        ),
        (
            ("seeds: 2", "seeds: [1, 1]"),
            "seeds: is a number of seeds of at least 1, or a list of different ones",
        ),
        (("minutes: 6", "minutes: [6"), "this is not YAML"),
    ],
)
def test_contradictions_are_reported_with_their_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        read_spec(_spec(tmp_path, SPEC.replace(*change)))


def test_the_command_prints_and_writes_the_same_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, out = (
        _spec(tmp_path, SPEC.replace("seeds: 2", "seeds: 1\nbounds: true")),
        tmp_path / "found.json",
    )
    given = ["simulate", "sweep", str(spec), "--folder", str(tmp_path / "rows"), "--master", "none"]
    assert command([*given, "--json", "--out", str(out)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads(out.read_text())
    assert result["runs"] == 7
    bounds = {"(best static)", "(clairvoyant)", "(clairvoyant bound)"}
    assert {entry["policy"] for entry in result["summary"]} == bounds | {
        "fixed",
        "spark-batch-ratio",
    }
    assert command(given) == 0
    assert "half the 95 % interval" in capsys.readouterr().out


def test_a_missing_spec_is_reported_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command(["simulate", "sweep", "nowhere.yaml", "--master", "none"]) == 2
    assert (
        capsys.readouterr().err
        == "rheostat: the spec nowhere.yaml cannot be read: No such file or directory\n"
    )


@pytest.mark.parametrize(
    "spec",
    [
        path
        for path in sorted((Path(__file__).parents[4] / "experiments").glob("*.yaml"))
        if "\nexperiment:" not in path.read_text(encoding="utf-8")  # these are real runs
    ],
    ids=lambda spec: spec.stem,
)
def test_the_committed_specs_are_valid(spec: Path) -> None:
    assert len(read_spec(spec)) >= 16
