"""For any tasks, the bounds of list scheduling hold, with any slots and stragglers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.sim.spark.spark_batch import Executor, StageRun, run_anywhere, run_at_home, strays
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.spark.spark_stages import NOBODY, adopted, rebalanced, step
from rheostat_lab.loads.steps import Steps

tasks = st.lists(st.floats(0.01, 50), min_size=1, max_size=25)
fleets = st.integers(1, 6)
slots = st.integers(1, 4)
hair = 1 + 1e-9


def run_stage(work_s: list[float], executors: int, slots: int, cold_s: float = 0.0) -> StageRun:
    run = StageRun("s", ("kafka",), 1.0, 1.0)
    fleet = [Executor(number, 0.0, cold=cold_s > 0) for number in range(executors)]
    end_s = run_anywhere(run, work_s, fleet, slots, 100.0, cold_s)
    assert end_s == max(run.ends_s)
    return run


@settings(max_examples=20)
@given(tasks, fleets, slots)
def test_the_completion_time_lies_within_grahams_bound(
    work_s: list[float], executors: int, slots: int
) -> None:
    places, took_s = executors * slots, max(run_stage(work_s, executors, slots).ends_s) - 100.0
    best_s = max(max(work_s), sum(work_s) / places)
    assert best_s <= took_s * hair
    # Graham, "Bounds on multiprocessing timing anomalies" (1969): list scheduling, m machines.
    assert took_s <= (2 - 1 / places) * best_s * hair


@settings(max_examples=20)
@given(tasks, fleets, slots)
def test_an_additional_slot_delays_no_task(work_s: list[float], executors: int, slots: int) -> None:
    few, more = run_stage(work_s, executors, slots), run_stage(work_s, executors, slots + 1)
    wide = run_stage(work_s, executors + 1, slots)
    for one, other, third in zip(few.ends_s, more.ends_s, wide.ends_s, strict=True):
        assert max(other, third) <= one * hair


@settings(max_examples=20)
@given(tasks, fleets, slots, st.floats(0.1, 5))
def test_every_working_executor_is_cold_exactly_once(
    work_s: list[float], executors: int, slots: int, cold_s: float
) -> None:
    run = run_stage(work_s, executors, slots, cold_s)
    late = [took - work for took, work in zip(run.task_s, work_s, strict=True)]
    # A free slot of another executor is used before the second slot of one.
    assert sum(more > cold_s / 2 for more in late) == min(executors, len(work_s))
    assert all(more == pytest.approx(0, abs=1e-9) or more == pytest.approx(cold_s) for more in late)


def test_tasks_are_distributed_round_robin_as_in_spark() -> None:
    run = run_stage([1.0, 1.0, 1.0, 1.0], 3, 2, cold_s=5.0)
    assert run.task_s == [6.0, 6.0, 6.0, 1.0]


@settings(max_examples=20)
@given(st.data(), fleets, slots, st.floats(0, 5))
def test_a_stray_task_runs_once_on_an_existing_executor(
    data: st.DataObject, executors: int, slots: int, wait_s: float
) -> None:
    work_s = data.draw(tasks)
    homes = data.draw(
        st.lists(st.integers(0, executors - 1), min_size=len(work_s), max_size=len(work_s))
    )
    factors = {number: data.draw(st.sampled_from([1.0, 4.0])) for number in range(executors)}
    placements = strays(work_s, homes, factors, slots, wait_s)
    assert len(placements) == len(work_s)
    assert set(placements) <= set(factors)
    assert strays(work_s, homes, factors, slots, math.inf) == homes
    if max(work_s) * max(factors.values()) <= wait_s:
        assert placements == homes


@settings(max_examples=20)
@given(tasks, slots, st.floats(1, 9))
def test_a_straggler_slows_local_tasks_by_its_factor(
    work_s: list[float], slots: int, factor: float
) -> None:
    ends_s = [
        run_at_home(StageRun("s", ("a",), 1, 1), work_s, [0] * len(work_s), {0: slow}, slots, 0.0)
        for slow in (1.0, factor)
    ]
    assert ends_s[1] == pytest.approx(factor * ends_s[0])


@settings(max_examples=20)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=24),
    st.lists(st.integers(0, 9), min_size=1, max_size=8, unique=True),
    st.integers(1, 5),
)
def test_placement_steps_converge_and_respect_the_move_limit(
    owners: list[int], executors: list[int], most: int
) -> None:
    wanted, living = rebalanced(owners, executors), sorted({*owners, *executors})
    for _ in range(math.ceil(len(owners) / most)):
        before = owners
        owners = step(owners, wanted, living, most)
        assert sum(old != new for old, new in zip(before, owners, strict=True)) <= most
    assert owners == wanted
    # An assignment that equals the wanted one needs no moves.
    assert rebalanced(owners, executors) == owners
    assert adopted(owners, executors) == owners


def test_unassigned_state_is_distributed_evenly_by_both_rules() -> None:
    for rule in (rebalanced, adopted):
        homes = rule([NOBODY] * 7, [4, 5])
        assert sorted((homes.count(4), homes.count(5))) == [3, 4]


QUIET = SparkParameters(task_noise=0.0, batch_noise=0.0, start_noise=0.0)


@settings(max_examples=12, deadline=None)
@given(
    st.integers(1, 20), st.integers(0, 20), st.integers(1, 3), st.integers(1, 8), st.floats(0, 3e4)
)
def test_a_batch_is_never_slower_on_more_executors(
    sources: int, states: int, slots: int, executors: int, rows: float
) -> None:
    took_s = []
    for size in (executors, executors + 1, executors + 5):
        job = replace(
            QUIET,
            executors=size,
            slots_per_executor=slots,
            source_partitions=sources,
            state_partitions=states,
            trigger_s=10.0,
        )
        plant = SparkPlant(job, Steps((1.0 + rows / 10, 0.0), hold_s=10.0))
        plant.advance(300.0)
        assert plant.committed >= math.floor(rows)
        commits = plant.ledger().commit_s
        # The first batch begins at the second trigger with all rows.
        took_s.append(float(commits[0]) - 10.0)
        assert took_s[-1] == pytest.approx(job.model.batch_s(plant.committed, size * slots))
    assert took_s == sorted(took_s, reverse=True)
