"""The arrival curve: rows by time, time by row, and means between."""

import math

import numpy as np
import pytest

from rheostat.errors import BadInput
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.workload import Constant
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.steps import Steps


def test_rows_are_the_integral_of_the_rate() -> None:
    arrivals = Arrivals(Steps((10.0, 0.0, 40.0), 10.0))
    assert [arrivals.rows_at(t) for t in (0.0, 5.5, 10.0, 20.0, 21.0)] == [
        0.0,
        55.0,
        100.0,
        100.0,
        140.0,
    ]
    assert [arrivals.rows_at(t + 1) - arrivals.rows_at(t) for t in (5.0, 15.0, 25.0)] == [
        10.0,
        0.0,
        40.0,
    ]


def test_the_time_of_a_row_is_the_inverse_of_the_curve() -> None:
    arrivals = Arrivals(Cosine(1_000, 800, 100, period_s=600, hold_s=10))
    for row in (0.0, 17.5, 40_000.0):
        assert arrivals.rows_at(arrivals.time_of(row, by_s=1e5)) == pytest.approx(row)


def test_a_row_after_a_pause_arrives_at_its_end() -> None:
    arrivals = Arrivals(Steps((10.0, 0.0, 40.0), 10.0))
    assert arrivals.time_of(100.0, by_s=1e5) == 20.0


def test_the_search_for_a_row_ends_at_the_given_time() -> None:
    assert Arrivals(Steps((10.0, 0.0), 10.0)).time_of(100.0, by_s=5_000.0) == math.inf


def test_the_mean_time_of_rows_matches_a_numeric_sum() -> None:
    arrivals = Arrivals(Steps((10.0, 0.0, 40.0), 10.0))
    arrivals.rows_at(100.0)
    rows = np.arange(30.0, 220.0, 0.01) + 0.005
    times = [arrivals.time_of(float(row), by_s=1e5) for row in rows[::50]]
    assert arrivals.mean_time(30.0, 220.0) == pytest.approx(np.mean(times), abs=0.05)


def test_the_mean_time_is_defined_for_the_last_rows() -> None:
    arrivals = Arrivals(Steps((10.0, 0.0), 10.0))
    arrivals.rows_at(50.0)
    assert arrivals.mean_time(0.0, 100.0) == pytest.approx(5.0)
    assert arrivals.mean_time(0.0, 100.0 + 1e-7) == pytest.approx(5.0)


def test_a_curve_does_not_depend_on_earlier_queries() -> None:
    one, other = (Arrivals(Constant(5.0), noise=np.random.default_rng(3)) for _ in range(2))
    for t in (1.0, 700.0, 2_000.0):
        one.rows_at(t)
    assert one.rows_at(5_000.0) == other.rows_at(5_000.0)


def test_noise_is_poisson_distributed_around_the_rate() -> None:
    arrivals = Arrivals(Constant(20.0), noise=np.random.default_rng(3))
    counts = np.diff(arrivals.curve(4_000.0)[1][:-1])
    assert counts.mean() == pytest.approx(20.0, rel=0.02)
    assert counts.var() == pytest.approx(20.0, rel=0.1)


def test_a_curve_ends_at_the_requested_time() -> None:
    times, rows = Arrivals(Constant(4.0)).curve(2.5)
    assert times.tolist() == [0.0, 1.0, 2.0, 2.5]
    assert rows.tolist() == [0.0, 4.0, 8.0, 10.0]


def test_a_step_of_zero_is_rejected() -> None:
    with pytest.raises(BadInput, match="above 0 seconds"):
        Arrivals(Constant(1.0), step_s=0.0)
