"""The measures of a run, on ledgers that can be computed by hand."""

import numpy as np
import pytest

from rheostat.model import Slo
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.bookkeeping import Book
from rheostat.sim.measures import measures, quantiles_s
from rheostat.sim.plant import Steps
from rheostat.sim.workload import Constant


def ten_rows_a_second(commits: list[tuple[float, float]]) -> Book:
    book = Book(Arrivals(Constant(10.0)), 2)
    for t_s, rows in commits:
        book.committed(t_s, rows)
    return book


def test_latency_is_commit_minus_arrival_per_row() -> None:
    result = measures(
        ten_rows_a_second([(12.0, 100.0), (22.0, 200.0)]).ledger(22.0), Slo(latency_s=7.0)
    )
    assert result.latency_mean_s == pytest.approx(7.0)  # rows are 2 to 12 s old
    assert result.latency_p50_s == pytest.approx(7.0, abs=0.5)
    assert result.latency_p99_s == pytest.approx(12.0, abs=0.6)
    assert result.within == pytest.approx(0.5)
    assert not result.attained


def test_rows_waiting_longer_than_the_objective_are_late() -> None:
    ledger = ten_rows_a_second([(1.0, 10.0)]).ledger(100.0)
    result = measures(ledger, Slo(latency_s=40.0))
    assert result.within == pytest.approx(
        10 / (10 + 590), rel=0.01
    )  # rows of the last 40 s may still be in time
    assert result.lag_end_rows == pytest.approx(990.0)
    assert result.late_s == pytest.approx(100.0 - 41.0, abs=0.6)


def test_time_above_the_objective_is_counted_once() -> None:
    result = measures(
        ten_rows_a_second([(12.0, 100.0), (22.0, 200.0)]).ledger(22.0), Slo(latency_s=10.0)
    )
    assert result.late_s == pytest.approx(4.0, abs=1.1)  # from 10 to 12 and from 20 to 22


def test_one_bad_window_misses_the_objective() -> None:
    good = [(float(t), 10.0 * t) for t in range(1, 9_000) if not 3_000 < t < 3_100]
    result = measures(ten_rows_a_second(good).ledger(9_000.0), Slo(latency_s=2.0))
    assert result.within is not None
    assert result.within > 0.985
    assert result.worst_window is not None
    assert result.worst_window < 0.7
    assert not result.attained


def test_the_warm_up_is_excluded() -> None:
    book = ten_rows_a_second([(50.0, 500.0), *((float(t), 10.0 * t) for t in range(51, 100))])
    book.target(40.0, 4)
    book.target(80.0, 2)
    late, warm = (
        measures(book.ledger(100.0), Slo(latency_s=2.0), warm_up_s=skipped)
        for skipped in (0.0, 60.0)
    )
    assert late.within == pytest.approx((10 + 490) / 990, abs=0.02)
    assert warm.within == 1.0
    assert (late.rescalings, warm.rescalings) == (2, 1)


def test_cost_is_counted_from_request_to_end() -> None:
    book = ten_rows_a_second([])
    book.paid(100.0, 5)
    book.registered(130.0, 5)
    book.registered(500.0, 2)
    book.paid(510.0, 2)
    result = measures(book.ledger(1_000.0), Slo())
    assert result.executor_hours * 3600 == pytest.approx(2 * 1_000 + 3 * 410)
    assert result.executors_mean == pytest.approx((2 * 1_000 + 3 * 370) / 1_000)
    assert (result.rescalings, result.rescalings_registered) == (0, 2)


def test_changes_between_two_samples_count_once() -> None:
    book = ten_rows_a_second([])
    for t_s, executors in ((31.0, 3), (33.0, 4), (36.0, 2), (61.0, 3), (70.0, 4)):
        book.registered(t_s, executors)
    assert measures(book.ledger(100.0), Slo()).rescalings_registered == 1


def test_elasticity_compares_supply_with_demand() -> None:
    book = ten_rows_a_second([])
    book.registered(500.0, 4)
    demand = Steps(np.array([0.0, 750.0]), np.array([4.0, 1.0]))
    result = measures(book.ledger(1_000.0), Slo(), demand=demand).elasticity
    assert result is not None
    assert result.accuracy_under == pytest.approx(100 * 0.5 * (2 / 4))
    assert result.accuracy_over == pytest.approx(100 * 0.25 * (3 / 1))
    assert (result.timeshare_under, result.timeshare_over) == pytest.approx((50.0, 25.0))
    assert result.instability == pytest.approx(
        100 * 2 / 16
    )  # in one of 16 minutes only supply changes, and in one only demand


def test_supply_that_follows_demand_has_no_instability_or_jitter() -> None:
    book = ten_rows_a_second([])
    book.registered(600.0, 4)
    book.registered(1_200.0, 3)
    demand = Steps(np.array([0.0, 600.0, 1_200.0]), np.array([2.0, 4.0, 3.0]))
    result = measures(book.ledger(3_600.0), Slo(), demand=demand).elasticity
    assert result is not None
    assert (result.accuracy_under, result.accuracy_over, result.instability) == (0.0, 0.0, 0.0)
    assert (result.adaptations_per_h, result.jitter_per_h) == (2.0, 0.0)


def test_jitter_counts_changes_without_a_change_in_demand() -> None:
    book = ten_rows_a_second([])
    for number in range(10):
        book.registered(100.0 * (number + 1), 3 if number % 2 else 4)
    one, none = (Steps(np.array([0.0, 900.0]), np.array([3.0, last])) for last in (4.0, 3.0))
    result = [
        measures(book.ledger(3_600.0), Slo(), demand=demand).elasticity for demand in (one, none)
    ]
    assert [elasticity.jitter_per_h for elasticity in result if elasticity] == [9.0, 10.0]


def test_without_rows_latency_is_absent() -> None:
    result = measures(ten_rows_a_second([]).ledger(5.0), Slo())
    assert (
        result.latency_mean_s,
        result.latency_p99_s,
        result.within,
        result.latency_plus_executors,
    ) == (None,) * 4
    assert not result.attained


def test_a_quantile_is_weighted_by_rows() -> None:
    latency, rows = np.array([5.0, 1.0, 9.0]), np.array([1.0, 98.0, 1.0])
    assert quantiles_s(latency, rows, (0.5, 0.98, 0.99, 1.0)) == [1.0, 1.0, 5.0, 9.0]


def test_a_step_holds_until_the_next() -> None:
    steps = Steps(np.array([0.0, 10.0, 20.0]), np.array([1.0, 3.0, 2.0]))
    assert steps.at(np.array([-1.0, 0.0, 9.9, 10.0, 99.0])).tolist() == [1.0, 1.0, 1.0, 3.0, 2.0]
    assert steps.integral(5.0, 25.0) == pytest.approx(5 + 30 + 10)
    assert steps.integral(0.0, 5.0) == pytest.approx(5.0)
    assert steps.changes(0.0) == 2
    assert steps.changes(15.0) == 1
