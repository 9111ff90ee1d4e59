"""The bottleneck of a query, from batches of a batch model."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.capacity.batch import BatchModel, StageCost
from rheostat.journal.bindings import _batches, bindings, finding_of
from rheostat.model import Observation, Stage


def batches(
    model: BatchModel, executors: int, count: int = 30, **signals: object
) -> list[Observation]:
    """Return the observed batches of a query whose rows rise and fall."""
    observed_batches = []
    for n in range(count):
        rows = 2000 + 1000 * (n % 5)
        stages = tuple(
            Stage(
                name=f"stage {place}",
                upstream=(f"stage {place - 1}",) if place else ("kafka",),
                rows_in=float(rows),
                rows_out=float(rows),
                busy_s=stage.tasks * stage.task_s + stage.row_s * rows,
                tasks=stage.tasks,
                task_max_s=stage.task_s + stage.skew * stage.row_s * rows / stage.tasks,
            )
            for place, stage in enumerate(model.stages)
        )
        observed_batches.append(
            Observation(
                t_s=10.0 * n,
                query="orders",
                executors=executors,
                slots_per_executor=1,
                trigger_s=10.0,
                batch_s=model.batch_s(rows, executors),
                batch_rows=rows,
                lag_rows=500.0,
                stages=stages,
            )
        )
    return [replace(observation, **signals) for observation in observed_batches]  # type: ignore[arg-type]


def job(tasks: int = 24, skew: float = 1.0, fixed_s: float = 0.3) -> BatchModel:
    return BatchModel(fixed_s, (StageCost(tasks=tasks, row_s=1e-3, task_s=0.01, skew=skew),))


def test_parallel_work_is_not_bound():
    (binding,) = bindings(batches(job(), 4))
    assert (binding.query, binding.kind) == ("orders", "nothing")
    assert binding.line == (
        "more executors help: 5 instead of 4 executors shorten a batch of 4,000 rows by 13 %"
        " (1.19 s instead of 1.36 s) and cost 25 % more"
    )


def test_doubling_the_executors_for_a_small_gain_is_not_worth_the_cost():
    (binding,) = bindings(batches(job(tasks=16, fixed_s=4.0), 8))
    assert binding.kind == "cost"
    assert "16 instead of 8 executors shorten a batch of 4,000 rows by" in binding.line
    assert binding.line.startswith("the size fits: ")
    assert binding.line.endswith("and double the cost, not worth it")


def test_as_many_slots_as_partitions_are_sufficient():
    (binding,) = bindings(batches(job(tasks=6), 6))
    assert binding.kind == "partitions"
    assert binding.line == "more executors will not help, because its 6 tasks (partitions) bind"


def test_one_large_partition_is_reported_as_skew():
    (binding,) = bindings(batches(job(tasks=24, skew=6.0), 8))
    assert binding.kind == "skew"
    assert "the largest task" in binding.line


def test_a_fixed_cost_is_reported_in_seconds():
    (binding,) = bindings(batches(job(fixed_s=4.0), 6))
    assert binding.kind == "fixed cost"
    assert "the fixed cost of a batch (4.0 of" in binding.line


def test_limiting_state_partitions_are_reported_with_the_command():
    (binding,) = bindings(batches(job(tasks=6), 8, state_partitions=6))
    line = finding_of(binding, "/data/orders").line
    assert "rheostat state repartition /data/orders --partitions 12, while" in line


def test_limiting_topic_partitions_get_no_repartition_command():
    (binding,) = bindings(batches(job(tasks=6), 8, state_partitions=4))
    assert "rescale" not in finding_of(binding).line


def test_a_fixed_cost_in_the_driver_lists_its_parts():
    parts = {"addBatch": 1.0, "queryPlanning": 2.5, "walCommit": 1.0, "triggerExecution": 5.0}
    (binding,) = bindings(batches(job(fixed_s=4.0), 6, batch_parts_s=parts))
    assert binding.kind == "driver"
    assert "queryPlanning 2.50 s, walCommit 1.00 s" in binding.line


def test_a_fixed_cost_outside_the_tasks_is_the_sink_or_scheduling():
    parts = {"addBatch": 4.5, "queryPlanning": 0.1, "triggerExecution": 5.0}
    (binding,) = bindings(batches(job(fixed_s=4.0), 6, batch_parts_s=parts))
    assert binding.kind == "sink"


def test_equal_batches_with_a_backlog_indicate_a_row_limit():
    observations = batches(job(), 8)
    limited = [
        replace(observation, batch_rows=4000, batch_s=1.0 + 1e-3 * n, lag_rows=9e5)
        for n, observation in enumerate(observations)
    ]
    (binding,) = bindings(limited)
    assert binding.kind == "rows limit"
    assert "every batch takes 4,000 rows" in binding.line
    assert "set maxOffsetsPerTrigger to " in binding.line


def test_equal_batches_longer_than_the_trigger_need_executors():
    observations = batches(job(), 2)
    limited = [
        replace(observation, batch_rows=40_000, batch_s=20.0 + 1e-3 * n, lag_rows=9e5, stages=None)
        for n, observation in enumerate(observations)
    ]
    assert bindings(limited)[0].kind != "rows limit"


def test_every_query_with_batches_is_reported_separately():
    other = [replace(observation, query="clicks") for observation in batches(job(tasks=4), 4)]
    silent = [Observation(t_s=0.0, query="silent", executors=4)]
    results = bindings([*batches(job(), 4), *other, *silent])
    assert {result.query: result.kind for result in results} == {
        "orders": "nothing",
        "clicks": "partitions",
    }


def test_batch_times_alone_show_that_more_executors_help():
    (binding,) = bindings(batches(job(tasks=64, fixed_s=0.1), 4, stages=None))
    assert binding.kind == "nothing"


@pytest.mark.parametrize("executors", [None, 0])
def test_unknown_executors_produce_no_finding(executors):
    observations = [replace(observation, executors=executors) for observation in batches(job(), 4)]
    assert bindings(observations) == ()


@settings(max_examples=40)
@given(st.lists(st.sampled_from([None, 0, 2, 3]), max_size=30))
def test_the_first_two_batches_after_a_rescale_are_ignored(
    sizes: list[int | None],
) -> None:
    observations = [
        Observation(t_s=float(n), executors=size, batch_s=1.0 + n, batch_rows=10)
        for n, size in enumerate(sizes)
    ]
    known = [observation for observation in observations if observation.executors]
    expected = [
        observation
        for n, observation in enumerate(known)
        if not any(
            known[change].executors != known[change - 1].executors
            for change in range(max(1, n - 1), n + 1)
        )
    ]
    assert _batches(observations) == expected


def test_a_batch_observed_twice_counts_once() -> None:
    observations = [
        Observation(t_s=float(n), executors=2, batch_s=float(1 + n // 3), batch_rows=10)
        for n in range(9)
    ]
    assert [observation.t_s for observation in _batches(observations)] == [0.0, 3.0, 6.0]


def test_a_gap_in_the_executor_count_hides_no_rescale() -> None:
    before, after = batches(job(), 4, count=6), batches(job(), 8, count=6)
    gap = replace(before[-1], executors=None)
    assert _batches([*before, gap, *after]) == [*before, *after[2:]]


@given(st.integers(1, 40), st.integers(1, 32), st.floats(1.0, 8.0), st.floats(0.0, 5.0))
@settings(max_examples=12, deadline=None)
def test_every_finding_is_one_line_with_finite_numbers(
    tasks: int, executors: int, skew: float, fixed_s: float
) -> None:
    batch_model = job(tasks=tasks, skew=min(skew, float(tasks)), fixed_s=fixed_s)
    (binding,) = bindings(batches(batch_model, executors, count=12))
    line = finding_of(binding, "/data").line
    assert len(line.splitlines()) == 1
    assert all(math.isfinite(number) for number in binding.evidence.values())
    more_help = binding.kind == "nothing"
    assert more_help == line.startswith("more executors help")
    # More slots than tasks never help.
    assert not (more_help and executors >= tasks)


def test_a_query_without_a_name_is_called_the_query() -> None:
    (binding,) = bindings(batches(job(), 4, query=None))
    assert binding.query == "the query"


def test_two_batches_are_insufficient_for_a_finding() -> None:
    assert bindings(batches(job(), 4, count=2)) == ()
