import pytest

from rheostat.signals.lag_change import consumed_per_s, gated_lag_change, relative_lag_change


def line(slope: float, start: float = 10_000.0, count: int = 13) -> list[tuple[float, float]]:
    return [(5.0 * n, start + slope * 5.0 * n) for n in range(count)]


@pytest.mark.parametrize(
    ("slope", "consumed", "relative"),
    [(0.0, 1000.0, 1.0), (500.0, 1000.0, 1.5), (-250.0, 1000.0, 0.75), (-1500.0, 1000.0, -0.5), (500.0, 0.0, None), (500.0, None, None)],
)
def test_the_relative_change_is_equation_3(slope, consumed, relative):
    assert relative_lag_change(line(slope), consumed) == (None if relative is None else pytest.approx(relative))


def test_one_sample_has_no_slope():
    assert relative_lag_change(line(1.0, count=1), 1000.0) is None


@pytest.mark.parametrize(
    ("lag", "relative", "gated"),
    [(60_000.0, 1.5, 1.5), (40_000.0, 1.5, -1.5), (40_000.0, -0.5, 0.5), (50_000.0, 1.5, None), (60_000.0, None, None)],
)
def test_the_gate_is_equation_4_with_its_sign_on_fast_draining_lag(lag, relative, gated):
    assert gated_lag_change(lag, 50_000.0, relative) == gated


def test_the_consumed_rate_is_measured_or_what_arrives_and_does_not_queue():
    arrivals = [(5.0 * n, 3000.0) for n in range(13)]
    assert consumed_per_s([(0.0, 900.0), (5.0, 1100.0)], arrivals, line(500.0)) == 1000.0
    assert consumed_per_s([], arrivals, line(500.0)) == pytest.approx(2500.0)
    assert consumed_per_s([], [], line(500.0)) is None
    assert consumed_per_s([], arrivals, line(500.0, count=1)) is None


def test_next_to_nothing_consumed_is_no_number_either():
    assert relative_lag_change([(0.0, 0.0), (1.0, 1.0)], 5e-324) is None
