"""Forecast of the arrival rate: experts per horizon, weighted by past errors, with quantiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rheostat.signals.forecasts.forecast import HORIZONS_S, Forecast
from rheostat.signals.forecasts.likeness import distance
from rheostat.signals.forecasts.rate_history import FINE_S, MINUTE_S, SEASONS_S, Floats, Rates

_LEVEL = 6
"""Steps whose mean is the level."""

_LEVELS = (0.5, 0.9, 0.99)

_SHARPNESS = 4.0
"""An expert with twice the error of the best one has e^-4 of its weight."""

_HALF_LIFE = 40
"""Steps after which an error counts half."""

_EVIDENCE = 5
"""Multiples of a horizon in the history from which it is fitted: one ramp over a minute is a single
case, however many observations it contains."""

_DAMPING = 0.8
_LONG, _TAIL = 12, 32
_ALIKE, _FEW = 0.35, 40
"""Quantiles use the third of the past that is most similar to the present, at least 40 steps."""

_PRIOR, _PRIOR_STEPS = (0.0, 0.08, 0.25), 15.0
"""Prior of the quantiles of errors, as shares of the rate, and its weight in steps."""


def refit(rates: Rates, fits: Mapping[str, Any], horizon: int) -> dict[str, Any]:
    """Return the fits with one horizon (index in ``HORIZONS_S``) refitted from the history."""
    step_s, ahead = _steps(HORIZONS_S[horizon])
    series = rates.fine if step_s == FINE_S else rates.minutes
    if len(series) < _EVIDENCE * ahead + 3:
        return {key: fit for key, fit in fits.items() if key != str(horizon)}
    forecasts = _experts(rates, series, step_s, ahead)[:, :-ahead]
    actual, away = series[ahead:], distance(series, ahead, series[-1])[:-ahead]
    weights = _weights(np.abs(forecasts - actual))
    # Where the best expert had no forecast yet, others replaced it: those errors do not count.
    is_valid = np.isfinite(forecasts[int(np.argmax(weights))])
    missed, by_last = actual - _mixed(forecasts, weights), actual - forecasts[0]
    if _worse(missed[is_valid], by_last[is_valid]):
        weights, missed, is_valid = np.eye(len(forecasts))[0], by_last, np.ones(len(actual), bool)
    offsets = _offsets(missed[is_valid], away[is_valid], series[-1])
    fitted = {"weights": [round(float(weight), 4) for weight in weights], "offsets": offsets}
    return {**fits, str(horizon): fitted}


def forecast(rates: Rates, fits: Mapping[str, Any]) -> Forecast:
    """Return the forecast from the history and the fits.

    A horizon without a fit has the quantiles of the one before.
    """
    paths: list[list[float]] = [[rates.now], [rates.now], [rates.now]]
    tails = {FINE_S: rates.fine[-_TAIL:].tolist(), MINUTE_S: rates.minutes[-_TAIL:].tolist()}
    unknown = rates.unknown * rates.now  # assumed largest jump of a load that is not known yet
    before = _seasons_ago(rates)
    middle, offsets = rates.now, [share * rates.now for share in _PRIOR]
    for place, horizon_s in enumerate(HORIZONS_S):
        step_s, ahead = _steps(horizon_s)
        fitted = fits.get(str(place))
        if fitted and tails[step_s]:
            weights, tail = fitted["weights"], tails[step_s]
            middle = _current_forecasts(before, rates.seasons_s, tail, step_s, ahead, weights)
            offsets = list(fitted["offsets"])
        offsets[2] = max(offsets[2], unknown)
        for path, offset in zip(paths, offsets, strict=True):
            path.append(max(0.0, float(middle + max(offset, offsets[0]))))
    p50, p90, p99 = (tuple(path) for path in paths)
    return Forecast((0.0, *HORIZONS_S), p50, p90, p99)


def _worse(missed: Floats, by_last: Floats) -> bool:
    """Return whether the recent errors of the experts exceed those of the last value."""
    recent = slice(-4 * _HALF_LIFE, None)
    return float(np.abs(missed[recent]).mean()) > float(np.abs(by_last[recent]).mean())


def _seasons_ago(rates: Rates) -> dict[tuple[float, float], float]:
    """Return the past rates that ``_current_forecasts`` needs, by (season, seconds ahead)."""
    levels = [-step_s * n for step_s in (FINE_S, MINUTE_S) for n in range(_LEVEL)]
    aways = sorted({*levels, *HORIZONS_S})
    rates_before: dict[tuple[float, float], float] = {}
    for fine in (False, True):
        seasons = [s for s in rates.seasons_s if s <= rates.watched_s and _fine(s) == fine]
        keys = [(season_s, away) for season_s in seasons for away in aways]
        if keys:
            before = rates.before(np.array([season_s - away for season_s, away in keys]), fine=fine)
            rates_before |= dict(zip(keys, before.tolist(), strict=True))
    return rates_before


def _fine(season_s: float) -> bool:
    """Return whether the means of 5 s reach back further than a season."""
    return season_s <= SEASONS_S[0] / 2


def _current_forecasts(
    before: Mapping[tuple[float, float], float],
    seasons_s: Sequence[float],
    tail: Sequence[float],
    step_s: float,
    ahead: int,
    weights: Sequence[float],
) -> float:
    """Return the weighted mean of the present forecasts, the last column of ``_experts``."""
    short, level = max(2, min(ahead, _LONG)), _mean_of(tail, _LEVEL)
    forecasts: list[float | None] = [tail[-1], level]
    forecasts += [_trend_of(tail, steps, ahead) for steps in (short, _LONG)]
    for season_s in seasons_s:
        same = None
        if ahead * step_s <= season_s and (season_s, 0.0) in before:
            then = [before[season_s, -step_s * n] for n in range(_LEVEL)]
            same = before[season_s, ahead * step_s] + (level - sum(then) / _LEVEL) / 2
        forecasts.append(same)
    total = weight = 0.0
    for expert_weight, forecast in zip(weights, forecasts, strict=True):
        if forecast is not None and not math.isnan(forecast):
            total, weight = (
                total + (expert_weight + 1e-9) * max(0.0, forecast),
                weight + expert_weight + 1e-9,
            )
    return total / weight


def _mean_of(tail: Sequence[float], steps: int) -> float:
    last = tail[-steps:]
    return sum(last) / len(last)


def _trend_of(tail: Sequence[float], steps: int, ahead: int) -> float:
    mean, slope = _mean_of(tail, steps), 0.0
    if len(tail) > steps:
        slope = (mean - _mean_of(tail[:-steps], steps)) / steps
    return mean + slope * ((steps - 1) / 2 + _DAMPING * ahead)


def _steps(horizon_s: float) -> tuple[float, int]:
    """Return the resolution of a horizon in seconds, and its number of steps."""
    step_s = FINE_S if horizon_s <= MINUTE_S else MINUTE_S
    return step_s, round(horizon_s / step_s)


def _experts(rates: Rates, series: Floats, step_s: float, ahead: int) -> Floats:
    """Return the forecasts made at each step for ``ahead`` steps on: a row per expert (or NaN)."""
    short = max(2, min(ahead, _LONG))
    level = _mean(series, _LEVEL)
    forecasts = [series, level, _trend(series, short, ahead), _trend(series, _LONG, ahead)]
    ages_s = step_s * np.arange(len(series) + _LEVEL - 2, -ahead - 1, -1.0)
    for season_s in rates.seasons_s:
        if ahead * step_s <= season_s <= rates.watched_s:
            before = rates.before(ages_s + season_s, fine=_fine(season_s))
            then = sum(before[n : n + len(series)] for n in range(_LEVEL)) / _LEVEL
            forecasts.append(before[_LEVEL - 1 + ahead :] + (level - then) / 2)
        else:
            forecasts.append(np.full(len(series), np.nan))
    return np.maximum(np.array(forecasts), 0.0)


def _mean(series: Floats, steps: int) -> Floats:
    """Return the moving mean, over fewer steps at the beginning."""
    total = np.concatenate(([0.0], np.cumsum(series)))
    ends = np.arange(1, len(series) + 1)
    begins = np.maximum(0, ends - steps)
    means: Floats = (total[ends] - total[begins]) / (ends - begins)
    return means


def _trend(series: Floats, steps: int, ahead: int) -> Floats:
    """Return the moving mean, extrapolated with its damped slope."""
    mean = _mean(series, steps)
    slope = np.zeros(len(series))
    slope[steps:] = (mean[steps:] - mean[:-steps]) / steps
    return mean + slope * ((steps - 1) / 2 + _DAMPING * ahead)


def _weights(misses: Floats) -> Floats:
    """Return the experts' weights: exponential in their recency-weighted absolute error."""
    ages = np.arange(misses.shape[1])[::-1]
    known = np.isfinite(misses)
    counts = np.where(known, 0.5 ** (ages / _HALF_LIFE), 0.0)
    total = counts.sum(axis=1)
    losses = (counts * np.where(known, misses, 0.0)).sum(axis=1) / np.maximum(total, 1e-9)
    has_evidence = total > min(3.0, 0.5 * total.max())
    best = max(float(losses[has_evidence].min()), 1e-9)
    weights: Floats = np.where(has_evidence, np.exp(-_SHARPNESS * (losses / best - 1)), 0.0)
    return weights / float(weights.sum())


def _mixed(forecasts: Floats, weights: Floats) -> Floats:
    """Return the weighted mean of the experts that have a forecast."""
    known = np.isfinite(forecasts)
    counts = np.where(known, weights[:, None], 0.0) + np.where(known, 1e-9, 0.0)
    mixed: Floats = (counts * np.where(known, forecasts, 0.0)).sum(axis=0) / counts.sum(axis=0)
    return mixed


def _offsets(missed: Floats, away: Floats, now: float) -> list[float]:
    """Return conformal quantiles of the errors at similar rates."""
    most = max(_FEW, int(_ALIKE * len(missed)))
    alike = missed
    if len(missed) > most:
        alike = missed[np.argpartition(away, most)[:most]]
    ordered, count = np.sort(alike), len(alike)
    share = _PRIOR_STEPS / (_PRIOR_STEPS + count)
    offsets = []
    for level, prior in zip(_LEVELS, _PRIOR, strict=True):
        offset = float(ordered[min(count - 1, math.ceil((count + 1) * level) - 1)])
        offsets.append(round((1 - share) * offset + share * prior * now, 3))
    return offsets
