"""Runs repeated in simulation: the measures of a run are predicted from another run of its job."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.guards import guards_of
from rheostat.journal.folder import FolderJournal
from rheostat.journal.reading import records
from rheostat.policies.registry import create
from rheostat.sim.engine import simulate
from rheostat.sim.measures import measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.matrix.kept_run import keep_finished, kept_files, observations, read_runs
from rheostat_lab.matrix.matrix_spec import MatrixSpec
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.simulated_runs import (
    simulated_runs,
    simulation_rows,
    simulation_table,
)

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
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the files of runs of a simulated job instead of a real one."""
    folder = tmp_path_factory.mktemp("runs")
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
        summary = {
            "slo_s": demo.slo.latency_s,
            "objective_met": measured.attained,
            "share_within_slo": measured.within,
            "latency_p99_s": measured.latency_p99_s,
            "slot_hours": 2 * measured.executor_hours,
            "rescalings": measured.rescalings,
            "failed_tasks": 0,
            "exact": True,
            "executors_mean": measured.executors_mean,
            "latency_mean_s": measured.latency_mean_s,
        }
        (folder / cell.name / "summary.json").write_text(json.dumps(summary))
    keep_finished(SPEC, folder, folder)
    return kept_files(SPEC.cells(), [folder])


@pytest.fixture(scope="module")
def runs(files: dict[str, Path]) -> dict[str, PlayedRun]:
    return read_runs(SPEC, files)


def test_a_run_is_predicted_from_another_run_of_the_same_job(
    files: dict[str, Path], runs: dict[str, PlayedRun]
) -> None:
    simulated = {one.run.policy: one for one in simulated_runs(SPEC, files, runs)}
    assert set(simulated) == {r.policy for r in runs.values() if "allocation" not in r.policy}
    for one in simulated.values():
        for name, tolerance in (("executors_mean", 0.1), ("latency_mean_s", 0.35)):
            measured, predicted = one.pair(name) or (0.0, 0.0)
            assert predicted == pytest.approx(measured, rel=tolerance), (one.run.policy, name)


def test_the_table_ranks_policies_by_their_results(
    files: dict[str, Path], runs: dict[str, PlayedRun]
) -> None:
    simulated = simulated_runs(SPEC, files, runs)
    executors = next(line for line in simulation_table(simulated) if "executors_mean" in line)
    assert executors.endswith("| 1.00 |")
    assert [row[1] for row in simulation_rows(simulated)[1:]] == [r.run.policy for r in simulated]


def test_a_run_without_another_of_its_query_is_excluded(
    files: dict[str, Path], runs: dict[str, PlayedRun]
) -> None:
    assert simulated_runs(SPEC, files, dict([*runs.items()][:1])) == []
    assert simulation_table([]) == []


def test_a_stored_run_contains_the_signals_of_its_journal(files: dict[str, Path]) -> None:
    path = next(iter(files.values()))
    journal = [record.observation for _, record in records(path.with_suffix("") / "journal")]
    kept = observations(path)
    assert len(kept) == len(journal)
    for now, wanted in zip(kept, journal, strict=True):
        assert wanted is not None
        assert (now.executors, now.batch_rows, now.in_flight is None) == (
            wanted.executors,
            wanted.batch_rows,
            wanted.in_flight is None,
        )
        assert [stage.busy_s for stage in now.stages or ()] == pytest.approx(
            [stage.busy_s for stage in wanted.stages or ()]
        )
        assert now.lag_rows == pytest.approx(wanted.lag_rows)
    assert path.stat().st_size < 40_000


def test_a_stored_run_keeps_state_sizes_beyond_single_precision(
    files: dict[str, Path], tmp_path: Path
) -> None:
    cell = next(SPEC.cells())
    source, copy = files[cell.name].with_suffix(""), tmp_path / cell.name
    journal = FolderJournal(copy / "journal")
    for _, record in records(source / "journal"):
        assert record.observation is not None
        large = replace(record.observation, state_bytes=2**25 + 1)
        journal.append(replace(record, observation=large), {})
    journal.close()
    (copy / "summary.json").write_text((source / "summary.json").read_text())
    keep_finished(SPEC, tmp_path, tmp_path)
    (kept,) = kept_files(SPEC.cells(), [tmp_path]).values()
    assert {now.state_bytes for now in observations(kept)} == {2**25 + 1}


def test_runs_with_different_conditions_and_foreign_files_are_rejected(
    files: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=r"played with minutes 4, not 5"):
        read_runs(replace(SPEC, minutes=5), files)
    foreign = tmp_path / "foreign.parquet"
    foreign.write_text("no Parquet")
    with pytest.raises(BadInput, match="is not a run file"):
        read_runs(SPEC, {"foreign": foreign})
