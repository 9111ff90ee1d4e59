"""Forecasts of a constant load, a recurring season, and remembered jumps."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from rheostat.signals.forecasts.forecast import (
    HORIZONS_S,
    NO_FITS,
    Forecast,
    _current_forecasts,
    _experts,
    _seasons_ago,
    forecast,
    refit,
)
from rheostat.signals.forecasts.rate_history import RateHistory, Rates, with_rate


def observed_forecast(rate: Callable[[float], float], seconds: float, step_s: float) -> Forecast:
    history = RateHistory()
    for n in range(int(seconds / step_s)):
        history = with_rate(history, n * step_s, rate((n - 0.5) * step_s))
    rates = Rates(history)
    fits = NO_FITS
    for place in range(len(HORIZONS_S)):
        fits = refit(rates, fits, place)
    return forecast(rates, fits)


def test_a_constant_rate_is_predicted_with_narrowing_quantiles() -> None:
    coming = observed_forecast(lambda _: 1000.0, 7200, 5)
    assert [rate for _, rate in coming.p50] == pytest.approx([1000.0] * len(coming.p50))
    assert max(rate for _, rate in coming.p90) < 1050


def test_quantiles_never_cross() -> None:
    coming = observed_forecast(lambda t_s: 500 + 400 * math.sin(t_s / 300), 3600, 15)
    for low, middle, high in zip(coming.p50, coming.p90, coming.p99, strict=True):
        assert 0 <= low[1] <= middle[1] <= high[1]


def test_an_hourly_wave_is_predicted() -> None:
    def wave(t_s: float) -> float:
        return 1000 + 800 * math.cos(2 * math.pi * t_s / 3600)

    coming = observed_forecast(wave, 5 * 3600 + 900, 15)
    predicted = dict(coming.p50)
    assert predicted[900.0] == pytest.approx(wave(5 * 3600 + 1800), abs=150)


def test_a_past_jump_appears_in_the_99th_percentile_path() -> None:
    coming = observed_forecast(lambda t_s: 3000.0 if t_s % 900 > 750 else 1000.0, 3600 + 300, 5)
    assert dict(coming.p99)[60.0] > 2500
    assert coming.p50[0] == pytest.approx((0.0, 1000.0))


def test_the_history_is_bounded() -> None:
    history = RateHistory()
    for n in range(12_000):
        history = with_rate(history, 60.0 * n, 7.0)
    kept = [len(ring.means) for ring in (history.fine, history.minutes, history.quarters)]
    assert kept == [3600 / 5, 1440, 8 * 24 * 4]


def test_a_clock_set_back_clears_the_history() -> None:
    history = with_rate(with_rate(RateHistory(), 0.0, 5.0), 100.0, 5.0)
    assert with_rate(history, 20.0, 5.0).fine.means == ()


def test_current_expert_forecasts_match_the_last_historical_ones() -> None:
    history = RateHistory()
    for n in range(1500):
        history = with_rate(history, 5.0 * n, 1000 + 500 * math.sin(n / 40) + n % 7)
    rates = Rates(history, period_s=1200.0)
    for step_s, ahead, series in ((5.0, 6, rates.fine), (60.0, 5, rates.minutes)):
        predictions = _experts(rates, series, step_s, ahead)[:, -1]
        for place in np.flatnonzero(np.isfinite(predictions)):
            weights = np.eye(len(predictions))[place].tolist()
            ago = _seasons_ago(rates)
            now = _current_forecasts(rates, ago, series.tolist(), step_s, ahead, weights)
            assert now == pytest.approx(predictions[place], rel=1e-4)


def test_experts_worse_than_the_last_value_are_dropped() -> None:
    def jumps(t_s: float) -> float:
        return 1000.0 + 800.0 * (int(t_s / 100) * 7919 % 13) / 13

    history = RateHistory()
    for n in range(700):
        history = with_rate(history, 5.0 * n, jumps(5.0 * n))
    fit = refit(Rates(history), NO_FITS, 0)[0]
    assert fit is not None
    weights = fit.weights
    assert weights[0] == 1.0 or max(weights) == weights[0]
