"""The period of a periodic load is detected, and no period in any other load."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.signals.forecasts.forecast import HORIZONS_S, NO_FITS, forecast, refit
from rheostat.signals.forecasts.period import period, period_s
from rheostat.signals.forecasts.rate_history import Floats, RateHistory, Rates, with_rate
from rheostat_lab.loads.day import Day

SEEDS = st.integers(min_value=0, max_value=10_000)


def shape(steps: int, rng: np.random.Generator) -> Floats:
    """Return one period of any smooth shape: a wave with two overtones."""
    turn = 2 * math.pi * np.arange(steps) / steps
    waves = [
        share * np.cos(k * turn + rng.uniform(0, 2 * math.pi))
        for k, share in ((1, 1.0), (2, rng.uniform(0, 0.7)), (3, rng.uniform(0, 0.4)))
    ]
    detected: Floats = 1000.0 + 300.0 * np.sum(waves, axis=0)
    return detected


def observed_rates(load: Day, seconds: float, period_s: float | None = None) -> Rates:
    history = RateHistory()
    for n in range(1, int(seconds / 3)):
        history = with_rate(history, 3.0 * n, load.rate_per_s(3.0 * n - 1.5))
    return Rates(history, period_s)


@given(SEEDS, st.integers(20, 200), st.floats(2.2, 6.0), st.floats(0.0, 0.15))
@settings(max_examples=60, deadline=None)
def test_the_period_of_a_noisy_load_is_detected(
    seed: int, steps: int, turns: float, noise: float
) -> None:
    rng = np.random.default_rng(seed)
    once = shape(steps, rng)
    series = np.resize(once, int(turns * steps)) * (
        1 + noise * rng.uniform(-1, 1, int(turns * steps))
    )
    detected = period(series)
    assert detected is not None
    assert abs(detected - steps) <= max(2, 0.05 * steps)


@given(SEEDS, st.integers(30, 700))
@settings(max_examples=60, deadline=None)
def test_noise_has_no_period(seed: int, n: int) -> None:
    assert period(1000 + 300 * np.random.default_rng(seed).standard_normal(n)) is None


@given(SEEDS, st.integers(10, 40), st.floats(1.0, 1.9))
@settings(max_examples=40, deadline=None)
def test_no_period_is_detected_before_two_repetitions(seed: int, steps: int, turns: float) -> None:
    series = np.resize(shape(5 * steps, np.random.default_rng(seed)), int(turns * 5 * steps))
    detected = period(series)
    assert detected is None or detected < 4 * steps


def test_a_constant_rate_and_a_ramp_have_no_period() -> None:
    assert period(np.full(500, 1000.0)) is None
    assert period(np.arange(500.0)) is None


def test_random_walks_rarely_have_a_period() -> None:
    rng = np.random.default_rng(5)
    detected = [period(np.cumsum(rng.standard_normal(600))) for _ in range(200)]
    assert sum(value is not None for value in detected) <= 20


@pytest.mark.parametrize("day_s", [240.0, 600.0])
def test_the_length_of_the_demo_day_is_detected_after_two_days(day_s: float) -> None:
    day = Day(low=200, peak=2600, day_s=day_s, ramp_share=0.12)
    assert period_s(observed_rates(day, 1.8 * day_s)) is None
    assert period_s(observed_rates(day, 2.3 * day_s)) == pytest.approx(day_s, abs=10.0)


def test_with_a_configured_day_the_second_is_forecast_from_the_first() -> None:
    day = Day(low=200, peak=2600, day_s=240.0, ramp_share=0.12)
    before_the_ramp_s = 240.0 + 135.0

    def ahead(period_s: float | None) -> float:
        rates = observed_rates(day, before_the_ramp_s, period_s)
        fits = NO_FITS
        for place in range(len(HORIZONS_S)):
            fits = refit(rates, fits, place)
        coming = forecast(rates, fits)
        return dict(coming.p50)[30.0]

    true = day.rate_per_s(before_the_ramp_s + 30.0)
    assert true > 2000
    assert ahead(240.0) == pytest.approx(true, rel=0.2)
    assert ahead(None) < 0.6 * true
