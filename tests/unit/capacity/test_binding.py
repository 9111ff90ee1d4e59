"""The bottleneck of a query, as doctor and the policies report it."""

from rheostat.capacity.batch import BatchModel, StageCost
from rheostat.capacity.binding import binding

EVEN = BatchModel(0.3, (StageCost(tasks=24, row_s=1e-3, task_s=0.01),))


def test_an_unchanged_number_of_waves_does_not_bind() -> None:
    assert EVEN.batch_s(50_000, 16) == EVEN.batch_s(50_000, 12)
    assert binding(EVEN, 50_000, 12, [16]) is None


def test_partitions_bind_when_all_are_busy() -> None:
    bound = binding(EVEN, 50_000, 24, [32])
    assert bound is not None
    assert bound.kind == "partitions"
