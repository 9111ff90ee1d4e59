"""Predicted batches: late rows, the first late row, and sizes that arrive meanwhile."""

import pytest

from rheostat.capacity.batch import BatchModel, StageCost
from rheostat.capacity.binding import binding
from rheostat.capacity.rescale_cost import RescaleCost
from rheostat.capacity.rollout import Arrivals, Backlog, RolloutResult, rollout

MODEL = BatchModel(0.5, (StageCost(tasks=24, row_s=0.001),))
FLAT = [(0.0, 1000.0), (600.0, 1000.0)]
NONE = Backlog(rows=0.0, since_s=0.0, begins_s=1.0)


def simulate(
    slots: int, backlog: Backlog = NONE, until_s: float = 120.0, later: int | None = None
) -> RolloutResult:
    sizes = [(0.0, MODEL.at(slots), 0.0)]
    if later:
        sizes.append((30.0, MODEL.at(later), 0.0))
    arrivals = Arrivals(backlog, FLAT)
    return rollout(arrivals, sizes, trigger_s=1.0, slo_s=10.0, until_s=until_s)


def test_a_sufficient_size_has_no_late_rows() -> None:
    assert simulate(2).late_rows == 0
    assert simulate(2).violation_s == float("inf")


def test_an_insufficient_size_has_a_first_violation_time() -> None:
    small = simulate(1)
    assert small.late_rows > 0
    assert 0 < small.violation_s < 120


def test_pending_slots_reduce_the_late_rows() -> None:
    assert simulate(1, later=4).late_rows < simulate(1).late_rows


def test_the_first_batch_processes_the_backlog_once() -> None:
    waiting = Backlog(rows=5000.0, since_s=-5.0, begins_s=0.0)
    assert simulate(4, waiting, until_s=1.0).rows == pytest.approx(6000.0)


def test_rows_that_no_batch_finishes_are_late() -> None:
    steep = [(0.0, 9000.0), (600.0, 9000.0)]
    late = []
    for slots in (1, 2, 8):
        sizes = [(0.0, MODEL.at(slots), 0.0)]
        arrivals = Arrivals(NONE, steep)
        result = rollout(arrivals, sizes, trigger_s=1.0, slo_s=10.0, until_s=60.0)
        late.append(result.late_rows)
    assert late == sorted(late, reverse=True)
    assert late[0] > 0.7 * 60 * 9000


def test_the_final_backlog_is_arrivals_minus_processed_rows() -> None:
    steep = Arrivals(NONE, [(0.0, 9000.0), (600.0, 9000.0)])
    for until_s in (60.0, 64.0, 71.0):
        size = (0.0, lambda rows: rows / 3000, 0.0)
        result = rollout(steep, [size], trigger_s=1.0, slo_s=10.0, until_s=until_s)
        assert result.waiting_rows == pytest.approx(9000 * until_s - 3000 * (until_s - 1))
    assert simulate(4).waiting_rows < 2 * 1000


def test_the_sustained_rate_without_waves_is_limited_by_half_the_objective() -> None:
    fluid = BatchModel(0.5, (StageCost(tasks=10_000, row_s=0.001),))
    for slots in (2, 5, 9):
        rate = fluid.sustained_rows_per_s(slots, 10.0, 0.0)
        assert rate == pytest.approx(slots / 0.001 * (1 - 2 * 0.5 / 10.0), rel=0.01)
    assert fluid.sustained_rows_per_s(9, 1.0, 0.0) == 0.0  # L <= 2 F


def test_only_sizes_that_save_a_wave_are_candidates() -> None:
    assert MODEL.worth_having(30, 1000.0) == [1, 2, 3, 4, 5, 6, 8, 12, 24]


def test_the_bottleneck_is_named() -> None:
    sizes = MODEL.worth_having(24, 24_000.0)
    assert binding(MODEL, 24_000.0, 4, sizes) is None
    assert "24 tasks" in str(binding(MODEL, 24_000.0, 24, sizes))
    assert "fixed cost" in str(binding(MODEL, 100.0, 12, sizes))
    skewed = BatchModel(0.1, (StageCost(tasks=24, row_s=0.001, skew=6.0),))
    assert "largest task" in str(binding(skewed, 24_000.0, 8, skewed.worth_having(24, 24_000.0)))


def test_the_executor_start_time_is_learned() -> None:
    known = RescaleCost()
    for n in range(8):
        at_s = 1000.0 * n
        for t_s, target, executors in ((0, 2, 2), (5, 4, 2), (50, 4, 2), (55, 4, 4), (90, 2, 2)):
            known = known.observe(at_s + t_s, target, executors)
    assert known.start_s == pytest.approx(50.0, rel=0.1)
    assert known.start_within_s(1.28) < 80.0
    assert RescaleCost().with_cold_batch(6.0).cold_s > RescaleCost().cold_s
