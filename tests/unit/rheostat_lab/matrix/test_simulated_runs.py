"""Runs repeated in simulation: the measures of a run are predicted from another run of its job."""

from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.guards import guards_of
from rheostat.journal.folder import FolderJournal
from rheostat.policies.registry import create
from rheostat.sim.engine import simulate
from rheostat.sim.measures import measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.matrix.matrix_spec import MatrixSpec
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.simulated_runs import simulated_runs, simulation_table

SPEC = MatrixSpec(
    experiment="matrix",
    minutes=4,
    queries=("q1",),
    loads={"q1": "cosine:shift=900,amplitude=600,noise=20,period_s=120,hold_s=3"},
    policies=(
        {"policy": "fixed", "set": {"executors": [3, 2]}},
        {"policy": "hpa", "set": {"metrics": "input_rows_per_s 500 each", "down_window_s": 10}},
        "spark-dynamic-allocation",
    ),
    seeds=(7,),
    interval_s=1.0,
)
JOB = SparkParameters(
    executors=1,
    slots_per_executor=2,
    trigger_s=1.0,
    source_partitions=16,
    state_partitions=0,
    source_row_s=0.002,
    source_task_s=0.02,
    fixed_s=0.2,
    start_s=5.0,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[PlayedRun]:
    """Return runs of a simulated job instead of a real one."""
    played = []
    for cell in SPEC.cells():
        demo = SPEC.demo(cell, folder)
        is_own = cell.policy == "spark-dynamic-allocation"
        run = simulate(
            SparkPlant(JOB, demo.load, seed=cell.seed),
            create("fixed", {}, demo.slo) if is_own else create(cell.policy, cell.parameters),
            guards_of(demo.limits, demo.guards, demo.loop),
            until_s=demo.total_s,
            interval_s=demo.interval_s,
            journal=FolderJournal(folder / cell.name / "journal"),
        )
        measured = measures(run.ledger, demo.slo, warm_up_s=15.0)
        played.append(
            PlayedRun(
                query=cell.query,
                load=cell.load,
                policy=cell.sizing,
                seed=cell.seed,
                attained=measured.attained,
                share_within_slo=measured.within,
                latency_p99_s=measured.latency_p99_s,
                slot_hours=2 * measured.executor_hours,
                rescalings=measured.rescalings,
                failed_tasks=0,
                exact=True,
                executors_mean=measured.executors_mean,
                latency_mean_s=measured.latency_mean_s,
            )
        )
    return played


def test_a_run_is_predicted_from_another_run_of_the_same_job(
    folder: Path, runs: list[PlayedRun]
) -> None:
    simulated = {one.run.policy: one for one in simulated_runs(SPEC, folder, runs)}
    assert set(simulated) == {run.policy for run in runs if "allocation" not in run.policy}
    for one in simulated.values():
        for name, tolerance in (("executors_mean", 0.1), ("latency_mean_s", 0.35)):
            measured, predicted = one.pair(name) or (0.0, 0.0)
            assert predicted == pytest.approx(measured, rel=tolerance), (one.run.policy, name)


def test_the_table_ranks_policies_as_measured(folder: Path, runs: list[PlayedRun]) -> None:
    table = simulation_table(simulated_runs(SPEC, folder, runs))
    executors = next(line for line in table if "executors_mean" in line)
    assert executors.endswith("| 1.00 |")


def test_a_run_without_another_of_its_query_is_excluded(
    folder: Path, runs: list[PlayedRun]
) -> None:
    assert simulated_runs(SPEC, folder, runs[:1]) == []
    assert simulation_table([]) == []
