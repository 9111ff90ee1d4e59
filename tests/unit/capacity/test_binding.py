"""The bottleneck of a query, as doctor and the policies report it."""

from rheostat.capacity.batch import BatchModel, StageCost
from rheostat.capacity.binding import binding, larger_limit, raise_limit

EVEN = BatchModel(0.3, (StageCost(tasks=24, row_s=1e-3, task_s=0.01),))


def test_an_unchanged_number_of_waves_does_not_bind() -> None:
    assert EVEN.batch_s(50_000, 16) == EVEN.batch_s(50_000, 12)
    assert binding(EVEN, 50_000, 12, [16]) is None


def test_partitions_bind_when_all_are_busy() -> None:
    bound = binding(EVEN, 50_000, 24, [32])
    assert bound is not None
    assert bound.kind == "partitions"


def test_a_larger_limit_of_rows_is_proposed_with_the_size_that_it_needs() -> None:
    model = BatchModel(1.0, (StageCost(tasks=24, row_s=0.001),))
    sizes = [1, 2, 3, 4, 6, 8, 12, 24]
    assert larger_limit(model, 50_000, 15_000, 10.0, sizes) == (190_000, 24)
    assert larger_limit(model, 50_000, 1000, 10.0, sizes) == (63_000, 8)
    assert larger_limit(model, 50_000, 40_000, 10.0, sizes) == (500_000, None)
    assert raise_limit(63_000, 4, 10.0).startswith(
        "set maxOffsetsPerTrigger to 63,000 and allow 4 executors"
    )
    assert "no size processes 500,000 rows" in raise_limit(500_000, None, 10.0)
