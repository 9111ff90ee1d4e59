import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.policies.forecasts.seasonal import error_ratio, seasonal


def wave(count: int, season: int = 20) -> list[float]:
    return [100 + 50 * math.sin(2 * math.pi * n / season) for n in range(count)]


def test_a_complete_season_is_repeated():
    assert seasonal(wave(60), 20, 30) == pytest.approx(wave(90)[60:], rel=1e-6)


def test_a_day_with_twice_the_load_is_scaled_accordingly():
    series = [*wave(40)[:20], *(2 * value for value in wave(40)[20:30])]
    assert seasonal(series, 20, 5) == pytest.approx([2 * v for v in wave(40)[30:35]], rel=1e-6)


def test_before_a_complete_season_the_trend_is_damped():
    forecast = seasonal([10.0 * n for n in range(15)], 1000, 5)
    assert forecast == sorted(forecast)
    assert 140.0 < forecast[0] < 150.0 + 1e-9 < forecast[-1] < 190.0


def test_a_constant_series_stays_constant():
    assert seasonal([7.0] * 30, 20, 3) == pytest.approx([7.0] * 3)
    assert seasonal([7.0], 20, 2) == pytest.approx([7.0] * 2)


def test_a_known_season_has_a_lower_error_than_the_last_value():
    error = error_ratio(wave(100), 20, 4)
    assert error is not None
    assert error < 0.01


def test_too_few_values_give_no_error():
    assert error_ratio(wave(12), 20, 4) is None


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=80), st.integers(4, 30))
def test_a_forecast_is_never_negative(series, season):
    assert all(value >= 0 for value in seasonal(series, season, 6))
