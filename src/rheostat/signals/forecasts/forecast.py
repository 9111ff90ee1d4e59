"""Forecast of the arrival rate: experts per horizon, weighted by past errors, with quantiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from rheostat.signals.forecasts.rate_history import FINE_S, HOUR_S, MINUTE_S, Floats, Rates
from rheostat.tuning import Tuning

HORIZONS_S = (5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 1800.0)
"""Seconds ahead of the forecast."""


Path: TypeAlias = Sequence[tuple[float, float]]
"""Pairs of (seconds from now, rows/s): now, and at each horizon."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The paths that the rate exceeds in half, in a tenth and in a hundredth of all cases."""

    p50: Path
    p90: Path
    p99: Path

    def until_above(self, limit: float) -> float:
        """Return the seconds until the 90 % path rises above a rate after it was below; 0 if it
        stays above.
        """
        below = False
        for t_s, rate in self.p90:
            if rate > limit and below:
                return t_s
            below = below or rate <= limit
        return 2 * HORIZONS_S[-1] if below else 0.0


class Fit(NamedTuple):
    """Weights of the experts, and quantiles (50 %, 90 %, 99 %) of their errors in rows/s."""

    weights: Sequence[float]
    offsets: Sequence[float]


Fits: TypeAlias = Sequence[Fit | None]
"""A fit per horizon; None until the history is long enough."""

NO_FITS: Fits = (None,) * len(HORIZONS_S)


def refit(rates: Rates, fits: Fits, horizon: int) -> Fits:
    """Return the fits with one horizon (index in ``HORIZONS_S``) refitted from the history."""
    step_s, ahead = _steps(HORIZONS_S[horizon])
    series = rates.fine if step_s == FINE_S else rates.minutes
    tuning = rates.tuning
    if len(series) < tuning.cases * ahead + tuning.few:
        return (*fits[:horizon], None, *fits[horizon + 1 :])
    forecasts = _experts(rates, series, step_s, ahead)[:, :-ahead]
    actual = series[ahead:]
    weights = _weights(np.abs(forecasts - actual), tuning)
    # Where the best expert had no forecast yet, others replaced it: those errors do not count.
    is_valid = np.isfinite(forecasts[int(np.argmax(weights))])
    missed, by_last = actual - _mixed(forecasts, weights), actual - forecasts[0]
    # The last value alone is the forecast where the experts were worse recently.
    recent = slice(-4 * tuning.half_life, None)
    if np.abs(missed[is_valid][recent]).mean() > np.abs(by_last[is_valid][recent]).mean():
        weights, missed, is_valid = np.eye(len(forecasts))[0], by_last, np.ones(len(actual), bool)
    offsets = _offsets(missed[is_valid], series[-1], tuning)
    fitted = Fit([round(float(weight), 4) for weight in weights], offsets)
    return (*fits[:horizon], fitted, *fits[horizon + 1 :])


def forecast(rates: Rates, fits: Fits) -> Forecast:
    """Return the forecast from the history and the fits.

    A horizon without a fit has the quantiles of the one before.
    """
    paths: list[list[tuple[float, float]]] = [[(0.0, rates.now)] for _ in range(3)]
    last = slice(-2 * rates.tuning.trend_steps, None)
    tails = {FINE_S: rates.fine[last].tolist(), MINUTE_S: rates.minutes[last].tolist()}
    unknown = rates.unknown * rates.now  # assumed largest jump of a load that is not known yet
    before = _seasons_ago(rates)
    middle, offsets = rates.now, [share * rates.now for share in rates.tuning.prior_errors]
    for horizon_s, fit in zip(HORIZONS_S, fits, strict=True):
        step_s, ahead = _steps(horizon_s)
        if fit and (tail := tails[step_s]):
            weights, (*offsets,) = fit
            middle = _current_forecasts(rates, before, tail, step_s, ahead, weights)
        offsets[2] = max(offsets[2], unknown)
        for path, offset in zip(paths, offsets, strict=True):
            path.append((horizon_s, max(0.0, float(middle + max(offset, offsets[0])))))
    return Forecast(*paths)


def _seasons_ago(rates: Rates) -> dict[tuple[float, float], float]:
    """Return the past rates that ``_current_forecasts`` needs, by (season, seconds ahead)."""
    steps = range(_level_steps(rates.tuning))
    levels = [-step_s * n for step_s in (FINE_S, MINUTE_S) for n in steps]
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
    return season_s <= HOUR_S / 2


def _current_forecasts(
    rates: Rates,
    before: Mapping[tuple[float, float], float],
    tail: Sequence[float],
    step_s: float,
    ahead: int,
    weights: Sequence[float],
) -> float:
    """Return the weighted mean of the present forecasts, the last column of ``_experts``."""
    damping, level_steps = rates.tuning.damping, _level_steps(rates.tuning)
    level = _mean_of(tail, level_steps)
    forecasts: list[float | None] = [tail[-1], level]
    forecasts += [_trend_of(tail, n, damping * ahead) for n in _trends(ahead, rates.tuning)]
    for season_s in rates.seasons_s:
        same = None
        if ahead * step_s <= season_s and (season_s, 0.0) in before:
            then = [before[season_s, -step_s * n] for n in range(level_steps)]
            same = before[season_s, ahead * step_s] + (level - sum(then) / level_steps) / 2
        forecasts.append(same)
    total = weight = 0.0
    for expert_weight, forecast in zip(weights, forecasts, strict=True):
        if forecast is not None and not math.isnan(forecast):
            total += (expert_weight + 1e-9) * max(0.0, forecast)
            weight = weight + expert_weight + 1e-9
    return total / weight


def _mean_of(tail: Sequence[float], steps: int) -> float:
    last = tail[-steps:]
    return sum(last) / len(last)


def _trend_of(tail: Sequence[float], steps: int, ahead: float) -> float:
    mean, slope = _mean_of(tail, steps), 0.0
    if len(tail) > steps:
        slope = (mean - _mean_of(tail[:-steps], steps)) / steps
    return mean + slope * ((steps - 1) / 2 + ahead)


def _level_steps(tuning: Tuning) -> int:
    return tuning.trend_steps // 2


def _trends(ahead: int, tuning: Tuning) -> tuple[int, int]:
    """Return the steps of the short trend and of the long one."""
    return max(2, min(ahead, tuning.trend_steps)), tuning.trend_steps


def _steps(horizon_s: float) -> tuple[float, int]:
    """Return the resolution of a horizon in seconds, and its number of steps."""
    step_s = FINE_S if horizon_s <= MINUTE_S else MINUTE_S
    return step_s, round(horizon_s / step_s)


def _experts(rates: Rates, series: Floats, step_s: float, ahead: int) -> Floats:
    """Return the forecasts made at each step for ``ahead`` steps on: a row per expert (or NaN)."""
    damping, level_steps = rates.tuning.damping, _level_steps(rates.tuning)
    level = _mean(series, level_steps)
    forecasts = [series, level]
    forecasts += [_trend(series, n, damping * ahead) for n in _trends(ahead, rates.tuning)]
    ages_s = step_s * np.arange(len(series) + level_steps - 2, -ahead - 1, -1.0)
    for season_s in rates.seasons_s:
        if ahead * step_s <= season_s <= rates.watched_s:
            before = rates.before(ages_s + season_s, fine=_fine(season_s))
            then = sum(before[n : n + len(series)] for n in range(level_steps)) / level_steps
            forecasts.append(before[level_steps - 1 + ahead :] + (level - then) / 2)
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


def _trend(series: Floats, steps: int, ahead: float) -> Floats:
    """Return the moving mean, extrapolated with its slope."""
    mean = _mean(series, steps)
    slope = np.zeros(len(series))
    slope[steps:] = (mean[steps:] - mean[:-steps]) / steps
    return mean + slope * ((steps - 1) / 2 + ahead)


def _weights(misses: Floats, tuning: Tuning) -> Floats:
    """Return the experts' weights: exponential in their recency-weighted absolute error."""
    ages = np.arange(misses.shape[1])[::-1]
    known = np.isfinite(misses)
    counts = np.where(known, 0.5 ** (ages / tuning.half_life), 0.0)
    total = counts.sum(axis=1)
    losses = (counts * np.where(known, misses, 0.0)).sum(axis=1) / np.maximum(total, 1e-9)
    has_evidence = total > min(tuning.few, 0.5 * total.max())
    best = max(float(losses[has_evidence].min()), 1e-9)
    odds = np.exp(-tuning.sharpness * (losses / best - 1))
    weights: Floats = np.where(has_evidence, odds, 0.0)
    return weights / float(weights.sum())


def _mixed(forecasts: Floats, weights: Floats) -> Floats:
    """Return the weighted mean of the experts that have a forecast."""
    known = np.isfinite(forecasts)
    counts = np.where(known, weights[:, None], 0.0) + np.where(known, 1e-9, 0.0)
    mixed: Floats = (counts * np.where(known, forecasts, 0.0)).sum(axis=0) / counts.sum(axis=0)
    return mixed


def _offsets(missed: Floats, now: float, tuning: Tuning) -> list[float]:
    """Return conformal quantiles of the errors (50 %, 90 %, 99 %)."""
    ordered, count = np.sort(missed), len(missed)
    share = tuning.prior_steps / (tuning.prior_steps + count)
    offsets = []
    for level, prior in zip((0.5, 0.9, 0.99), tuning.prior_errors, strict=True):
        offset = float(ordered[min(count - 1, math.ceil((count + 1) * level) - 1)])
        offsets.append(round((1 - share) * offset + share * prior * now, 3))
    return offsets
