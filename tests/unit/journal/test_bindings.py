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
    model: BatchModel, executors: int, count: int = 30, **seen: object
) -> list[Observation]:
    """Return the observed batches of a query whose rows rise and fall."""
    found = []
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
        found.append(
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
    return [replace(each, **seen) for each in found]  # type: ignore[arg-type]


def job(tasks: int = 24, skew: float = 1.0, fixed_s: float = 0.3) -> BatchModel:
    return BatchModel(fixed_s, (StageCost(tasks=tasks, row_s=1e-3, task_s=0.01, skew=skew),))


def test_work_that_more_slots_share_is_bound_by_nothing():
    (found,) = bindings(batches(job(), 4))
    assert (found.query, found.kind, found.more_help) == ("orders", "nothing", True)
    assert found.line == (
        "more executors help: 5 instead of 4 executors shorten a batch of 4,000 rows by 13 %"
        " (1.19 s instead of 1.36 s) and cost 25 % more"
    )


def test_twice_the_executors_for_a_slightly_shorter_batch_are_not_worth_it():
    (found,) = bindings(batches(job(tasks=16, fixed_s=4.0), 8))
    assert (found.kind, found.more_help) == ("cost", False)
    assert "16 instead of 8 executors shorten a batch of 4,000 rows by" in found.line
    assert found.line.startswith("the size fits: ")
    assert found.line.endswith("and double the cost, not worth it")


def test_as_many_slots_as_partitions_are_enough():
    (found,) = bindings(batches(job(tasks=6), 6))
    assert found.kind == "partitions"
    assert found.line == "more executors will not help, because its 6 tasks (partitions) bind"


def test_one_large_partition_is_a_skew():
    (found,) = bindings(batches(job(tasks=24, skew=6.0), 8))
    assert found.kind == "skew"
    assert "the largest task" in found.line


def test_a_fixed_cost_is_said_with_its_seconds():
    (found,) = bindings(batches(job(fixed_s=4.0), 6))
    assert found.kind == "fixed cost"
    assert "the fixed cost of a batch (4.0 of" in found.line


def test_state_partitions_that_bind_come_with_a_number_and_the_command():
    (found,) = bindings(batches(job(tasks=6), 8, state_partitions=6))
    said = finding_of(found, "/data/orders").line
    assert "rheostat state repartition /data/orders --partitions 12, while" in said


def test_partitions_of_a_topic_that_bind_are_not_rescaled():
    (found,) = bindings(batches(job(tasks=6), 8, state_partitions=4))
    assert "rescale" not in finding_of(found).line


def test_a_fixed_cost_in_the_driver_names_its_parts():
    parts = {"addBatch": 1.0, "queryPlanning": 2.5, "walCommit": 1.0, "triggerExecution": 5.0}
    (found,) = bindings(batches(job(fixed_s=4.0), 6, batch_parts_s=parts))
    assert found.kind == "driver"
    assert "queryPlanning 2.50 s, walCommit 1.00 s" in found.line


def test_a_fixed_cost_beside_the_tasks_is_the_sink_or_scheduling():
    parts = {"addBatch": 4.5, "queryPlanning": 0.1, "triggerExecution": 5.0}
    (found,) = bindings(batches(job(fixed_s=4.0), 6, batch_parts_s=parts))
    assert found.kind == "sink"


def test_batches_of_equal_rows_while_more_wait_show_a_limit_of_rows():
    seen = batches(job(), 8)
    limited = [
        replace(each, batch_rows=4000, batch_s=1.0 + 1e-3 * n, lag_rows=9e5)
        for n, each in enumerate(seen)
    ]
    (found,) = bindings(limited)
    assert found.kind == "rows limit"
    assert "every batch takes 4,000 rows" in found.line


def test_batches_of_equal_rows_that_last_beyond_the_trigger_need_executors():
    seen = batches(job(), 2)
    limited = [
        replace(each, batch_rows=40_000, batch_s=20.0 + 1e-3 * n, lag_rows=9e5, stages=None)
        for n, each in enumerate(seen)
    ]
    assert bindings(limited)[0].kind != "rows limit"


def test_every_query_is_told_by_itself_and_one_without_batches_is_left_out():
    other = [replace(each, query="clicks") for each in batches(job(tasks=4), 4)]
    silent = [Observation(t_s=0.0, query="silent", executors=4)]
    found = bindings([*batches(job(), 4), *other, *silent])
    assert {each.query: each.kind for each in found} == {
        "orders": "nothing",
        "clicks": "partitions",
    }


def test_without_stages_batch_times_alone_tell_that_more_help():
    (found,) = bindings(batches(job(tasks=64, fixed_s=0.1), 4, stages=None))
    assert found.kind == "nothing"


@pytest.mark.parametrize("executors", [None, 0])
def test_unknown_executors_say_nothing(executors):
    seen = [replace(each, executors=executors) for each in batches(job(), 4)]
    assert bindings(seen) == ()


@settings(max_examples=40)
@given(st.lists(st.sampled_from([None, 0, 2, 3]), max_size=30))
def test_the_first_two_batches_after_a_change_of_size_are_left_out(
    sizes: list[int | None],
) -> None:
    seen = [
        Observation(t_s=float(n), executors=size, batch_s=1.0 + n, batch_rows=10)
        for n, size in enumerate(sizes)
    ]
    known = [each for each in seen if each.executors]
    wanted = [
        each
        for n, each in enumerate(known)
        if not any(
            known[change].executors != known[change - 1].executors
            for change in range(max(1, n - 1), n + 1)
        )
    ]
    assert _batches(seen) == wanted


def test_a_batch_that_is_seen_twice_counts_once() -> None:
    seen = [
        Observation(t_s=float(n), executors=2, batch_s=float(1 + n // 3), batch_rows=10)
        for n in range(9)
    ]
    assert [each.t_s for each in _batches(seen)] == [0.0, 3.0, 6.0]


def test_a_minute_without_the_api_server_hides_no_change_of_size() -> None:
    before, after = batches(job(), 4, count=6), batches(job(), 8, count=6)
    gap = replace(before[-1], executors=None)
    assert _batches([*before, gap, *after]) == [*before, *after[2:]]


@given(st.integers(1, 40), st.integers(1, 32), st.floats(1.0, 8.0), st.floats(0.0, 5.0))
@settings(max_examples=12, deadline=None)
def test_what_binds_any_job_is_said_in_one_line_with_numbers_that_are_finite(
    tasks: int, executors: int, skew: float, fixed_s: float
) -> None:
    made = job(tasks=tasks, skew=min(skew, float(tasks)), fixed_s=fixed_s)
    (found,) = bindings(batches(made, executors, count=12))
    line = finding_of(found, "/data").line
    assert len(line.splitlines()) == 1
    assert all(math.isfinite(number) for number in found.evidence.values())
    assert found.more_help == line.startswith("more executors help")
    # More slots than tasks never help.
    assert not (found.more_help and executors >= tasks)


def test_a_query_without_a_name_is_called_the_query() -> None:
    (found,) = bindings(batches(job(), 4, query=None))
    assert found.query == "the query"


def test_two_batches_are_too_few_to_say_what_binds() -> None:
    assert bindings(batches(job(), 4, count=2)) == ()
