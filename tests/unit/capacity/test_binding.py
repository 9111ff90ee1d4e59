"""The bottleneck of a query, as doctor and the policies report it."""

from rheostat.capacity.batch import BatchModel, StageCost
from rheostat.capacity.binding import binding

EVEN = BatchModel(0.3, (StageCost(tasks=24, row_s=1e-3, task_s=0.01),))


def test_as_many_rounds_of_tasks_as_before_are_no_proof_that_more_slots_do_not_help() -> None:
    assert EVEN.batch_s(50_000, 16) == EVEN.batch_s(50_000, 12)
    assert binding(EVEN, 50_000, 12, [16]) is None


def test_with_all_partitions_at_work_they_bind() -> None:
    bound = binding(EVEN, 50_000, 24, [32])
    assert bound is not None
    assert bound.kind == "partitions"
