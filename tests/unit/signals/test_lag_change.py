import pytest

from rheostat.signals.lag import consumed_per_s, gated_lag_change, relative_lag_change


@pytest.mark.parametrize(
    ("slope", "consumed", "relative"),
    [
        (0.0, 1000.0, 1.0),
        (500.0, 1000.0, 1.5),
        (-250.0, 1000.0, 0.75),
        (-1500.0, 1000.0, -0.5),
        (500.0, 0.0, None),
        (500.0, None, None),
    ],
)
def test_the_relative_change_follows_equation_3(slope, consumed, relative):
    assert relative_lag_change(slope, consumed) == (
        None if relative is None else pytest.approx(relative)
    )


def test_without_a_slope_the_change_is_absent():
    assert relative_lag_change(None, 1000.0) is None


@pytest.mark.parametrize(
    ("lag", "relative", "gated"),
    [
        (60_000.0, 1.5, 1.5),
        (40_000.0, 1.5, -1.5),
        (40_000.0, -0.5, 0.5),
        (50_000.0, 1.5, None),
        (60_000.0, None, None),
    ],
)
def test_the_gate_follows_equation_4_including_its_sign(lag, relative, gated):
    assert gated_lag_change(lag, 50_000.0, relative) == gated


@pytest.mark.parametrize(
    ("consumed", "arrivals", "slope", "rate"),
    [
        (1000.0, 3000.0, 500.0, 1000.0),
        (None, 3000.0, 500.0, 2500.0),
        (None, None, 500.0, None),
        (None, 3000.0, None, None),
    ],
)
def test_the_consumed_rate_is_measured_or_derived_from_arrivals(consumed, arrivals, slope, rate):
    assert consumed_per_s(consumed, arrivals, slope) == rate


def test_a_consumed_rate_near_zero_gives_no_change():
    assert relative_lag_change(1.0, 5e-324) is None
