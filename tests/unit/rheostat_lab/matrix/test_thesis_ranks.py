"""The thesis' autoscalers on Spark are ranked next to its published runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rheostat_lab.experiment_file import spec_of, values_of
from rheostat_lab.matrix.matrix_spec import MatrixSpec
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.thesis_ranks import answer_table, rank_table, variant
from rheostat_lab.thesis import thesis_runs

PATH = Path(__file__).parents[4] / "experiments" / "thesis-spark.yaml"
CELLS = list(spec_of(MatrixSpec, PATH, values_of(PATH)).cells())
PUBLISHED = {(f"q{cell.query}", variant(*cell.production())): cell for cell in thesis_runs.cells()}


def runs(executors_of: float, seed: int = 7) -> list[PlayedRun]:
    """Return runs with the thesis' own measures, executors multiplied by a factor."""
    return [
        PlayedRun(
            query=cell.query,
            load=cell.load,
            policy=cell.sizing,
            seed=cell.seed,
            attained=True,
            share_within_slo=1.0,
            latency_p99_s=None,
            slot_hours=1.0,
            rescalings=published.rescalings if published else 0,
            failed_tasks=0,
            exact=True,
            executors_mean=executors_of * (published.executors if published else 1.0),
            latency_mean_s=published.latency_s if published else 0.1,
        )
        for cell in CELLS
        if cell.seed == seed
        for published in [PUBLISHED.get((cell.query, variant(cell.policy, cell.parameters)))]
    ]


def test_every_autoscaler_of_the_thesis_is_in_its_experiment_on_spark() -> None:
    assert len(PUBLISHED) == 54
    assert {(cell.query, variant(cell.policy, cell.parameters)) for cell in CELLS} >= set(PUBLISHED)


@pytest.mark.parametrize(("factor", "correlation"), [(2.0, "1.00"), (-1.0, "-1.00")])
def test_equal_ranks_correlate_fully_and_reversed_ranks_inversely(
    factor: float, correlation: str
) -> None:
    first = [cell for cell in CELLS if cell.seed == 7]
    lines = rank_table(zip(first, runs(factor), strict=True))
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| q1", "| q3", "| q11"]
    for line in lines[2:]:
        assert line.split(" | ")[1:5] == ["18", "1.00", correlation, "1.00"]


def test_tuned_policy_parameters_do_not_count_as_a_thesis_autoscaler() -> None:
    tuned = [c for c in CELLS if c.query == "q1" and c.parameters.get("cooldown_s") == 10]
    others = [c for c in CELLS if c.sizing not in {cell.sizing for cell in tuned} and c.seed == 7]
    known = {(run.query, run.policy): run for run in runs(1.0)}
    slow = [(cell, known[cell.query, cell.sizing]) for cell in (*tuned[:1], *others)]
    assert rank_table(slow)[2].split(" | ")[1:5] == ["18", "1.00", "1.00", "1.00"]


def test_without_the_thesis_autoscalers_no_table_is_produced() -> None:
    assert rank_table([]) == []
    assert variant("hpa", {"metrics": "lag_rows 500 each"}) is None
    assert variant("predictive", {}) is None


def test_the_answer_names_the_cheapest_policy_per_kind_that_always_attains() -> None:
    known = list(zip([cell for cell in CELLS if cell.seed == 7], runs(1.0), strict=True))
    cheap = [
        (cell, replace(run, slot_hours=0.2, attained=cell.policy != "varga-v1"))
        for cell, run in known
        if cell.query == "q3" and cell.policy in ("varga-v1", "varga-v2", "fixed", "hpa")
    ]
    missed = [(cell, replace(run, attained=False)) for cell, run in known if cell.query == "q11"]
    lines = answer_table([*cheap, *missed])
    assert lines[2].startswith("| q3 | not played | `hpa metrics=busy 0.7 down_window_s=15` 0.200 ")
    assert "(6 of 9 attain) | `hpa metrics=lag_rows 700 each" in lines[2]
    assert lines[2].endswith("| `fixed executors=5` 0.200 (4 of 4 attain) | not played |")
    assert lines[3].startswith("| q11 | missed by all 1 | missed by all 18 | missed by all 3 |")
