"""The measures of a run, on ledgers that can be computed by hand."""

import numpy as np
import pytest

from rheostat.model import Slo
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.bookkeeping import Book
from rheostat.sim.measures import measures, quantile_s
from rheostat.sim.plant import Steps
from rheostat.workloads.workload import Constant


def ten_rows_a_second(commits: list[tuple[float, float]], *, batches: bool = True) -> Book:
    book = Book(Arrivals(Constant(10.0)), 0.0, 2, batches=batches)
    for t_s, rows in commits:
        book.committed(t_s, rows)
    return book


def test_latency_is_commit_minus_arrival_by_row() -> None:
    found = measures(
        ten_rows_a_second([(12.0, 100.0), (22.0, 200.0)]).ledger(22.0), Slo(latency_s=7.0)
    )
    assert found.latency_mean_s == pytest.approx(7.0)  # rows are 2 to 12 s old
    assert found.latency_p50_s == pytest.approx(7.0, abs=0.5)
    assert found.latency_p99_s == pytest.approx(12.0, abs=0.6)
    assert found.within == pytest.approx(0.5)
    assert not found.attained


def test_a_continuous_job_commits_evenly() -> None:
    found = measures(
        ten_rows_a_second([(3.0, 0.0), (103.0, 1_000.0)], batches=False).ledger(103.0), Slo()
    )
    assert found.latency_mean_s == pytest.approx(3.0)
    assert found.latency_p99_s == pytest.approx(3.0)
    assert found.attained


def test_rows_that_wait_too_long_still_count_as_late() -> None:
    ledger = ten_rows_a_second([(1.0, 10.0)]).ledger(100.0)
    found = measures(ledger, Slo(latency_s=40.0))
    assert found.within == pytest.approx(
        10 / (10 + 590), rel=0.01
    )  # rows of the last 40 s may still be in time
    assert found.lag_end_rows == pytest.approx(990.0)
    assert found.late_s == pytest.approx(100.0 - 41.0, abs=0.6)


def test_time_above_the_objective_is_counted_once() -> None:
    found = measures(
        ten_rows_a_second([(12.0, 100.0), (22.0, 200.0)]).ledger(22.0), Slo(latency_s=10.0)
    )
    assert found.late_s == pytest.approx(4.0, abs=1.1)  # from 10 to 12 and from 20 to 22


def test_a_bad_window_spoils_a_good_run() -> None:
    good = [(float(t), 10.0 * t) for t in range(1, 9_000) if not 3_000 < t < 3_100]
    found = measures(ten_rows_a_second(good).ledger(9_000.0), Slo(latency_s=2.0))
    assert found.within is not None
    assert found.within > 0.985
    assert found.worst_window is not None
    assert found.worst_window < 0.7
    assert not found.attained


def test_the_warm_up_is_left_out() -> None:
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


def test_cost_is_from_request_to_end() -> None:
    book = ten_rows_a_second([])
    book.paid(100.0, 5)
    book.registered(130.0, 5)
    book.registered(500.0, 2)
    book.paid(510.0, 2)
    found = measures(book.ledger(1_000.0), Slo())
    assert found.executor_hours * 3600 == pytest.approx(2 * 1_000 + 3 * 410)
    assert found.executors_mean == pytest.approx((2 * 1_000 + 3 * 370) / 1_000)
    assert (found.rescalings, found.rescalings_registered) == (0, 2)


def test_changes_between_two_samples_are_one_by_the_thesis_rule() -> None:
    book = ten_rows_a_second([])
    for t_s, executors in ((31.0, 3), (33.0, 4), (36.0, 2), (61.0, 3), (70.0, 4)):
        book.registered(t_s, executors)
    assert measures(book.ledger(100.0), Slo()).rescalings_registered == 1


def test_elasticity_compares_supply_with_demand() -> None:
    book = ten_rows_a_second([])
    book.registered(500.0, 4)
    demand = Steps(np.array([0.0, 750.0]), np.array([4.0, 1.0]))
    found = measures(book.ledger(1_000.0), Slo(), demand=demand).elasticity
    assert found is not None
    assert found.accuracy_under == pytest.approx(100 * 0.5 * (2 / 4))
    assert found.accuracy_over == pytest.approx(100 * 0.25 * (3 / 1))
    assert (found.timeshare_under, found.timeshare_over) == pytest.approx((50.0, 25.0))
    assert found.instability == pytest.approx(
        100 * 2 / 16
    )  # in one of 16 minutes only supply changes, and in one only demand


def test_supply_that_follows_demand_is_neither_unstable_nor_jittery() -> None:
    book = ten_rows_a_second([])
    book.registered(600.0, 4)
    book.registered(1_200.0, 3)
    demand = Steps(np.array([0.0, 600.0, 1_200.0]), np.array([2.0, 4.0, 3.0]))
    found = measures(book.ledger(3_600.0), Slo(), demand=demand).elasticity
    assert found is not None
    assert (found.accuracy_under, found.accuracy_over, found.instability) == (0.0, 0.0, 0.0)
    assert (found.adaptations_per_h, found.jitter_per_h) == (2.0, 0.0)


def test_jitter_is_the_changes_that_demand_did_not_ask_for() -> None:
    book = ten_rows_a_second([])
    for number in range(10):
        book.registered(100.0 * (number + 1), 3 if number % 2 else 4)
    one, none = (Steps(np.array([0.0, 900.0]), np.array([3.0, last])) for last in (4.0, 3.0))
    found = [
        measures(book.ledger(3_600.0), Slo(), demand=demand).elasticity for demand in (one, none)
    ]
    assert [each.jitter_per_h for each in found if each] == [9.0, 10.0]


def test_without_rows_there_is_no_latency() -> None:
    found = measures(ten_rows_a_second([]).ledger(5.0), Slo())
    assert (
        found.latency_mean_s,
        found.latency_p99_s,
        found.within,
        found.latency_plus_executors,
    ) == (None,) * 4
    assert not found.attained


def test_a_quantile_weighs_rows() -> None:
    latency, rows = np.array([5.0, 1.0, 9.0]), np.array([1.0, 98.0, 1.0])
    assert [quantile_s(latency, rows, q) for q in (0.5, 0.98, 0.99, 1.0)] == [1.0, 1.0, 5.0, 9.0]


def test_steps_hold_until_the_next() -> None:
    steps = Steps(np.array([0.0, 10.0, 20.0]), np.array([1.0, 3.0, 2.0]))
    assert steps.at(np.array([-1.0, 0.0, 9.9, 10.0, 99.0])).tolist() == [1.0, 1.0, 1.0, 3.0, 2.0]
    assert steps.integral(5.0, 25.0) == pytest.approx(5 + 30 + 10)
    assert steps.integral(0.0, 5.0) == pytest.approx(5.0)
    assert steps.changes(0.0) == 2
    assert steps.changes(15.0) == 1
