"""Forecasts a series: the last season scaled to the current level, otherwise a damped trend."""

from __future__ import annotations

from collections.abc import Sequence

_LEVEL = 6
"""Number of values whose mean is the level."""

_DAMPING = 0.9
_SMOOTH, _SMOOTH_TREND = 0.5, 0.2
_TAIL = 60
_MOST_RISE = 3.0


def seasonal(series: Sequence[float], season: int, steps: int) -> list[float]:
    """Return the next ``steps`` values, at least 0, from a non-empty series.

    They are the last season scaled to the current level (by 1/3 to 3), or Holt's damped trend.
    """
    if len(series) >= season + _LEVEL:
        before = series[len(series) - season - _LEVEL : len(series) - season]
        now, then = sum(series[-_LEVEL:]), sum(before)
        scale = min(_MOST_RISE, max(1 / _MOST_RISE, now / then)) if then > 0 else 1.0
        last = list(series[len(series) - season :])
        return [scale * last[step % season] for step in range(steps)]
    level, trend = _holt(series[-_TAIL:])
    values, damped = [], 0.0
    for step in range(1, steps + 1):
        damped += _DAMPING**step
        values.append(max(0.0, level + damped * trend))
    return values


def error_ratio(
    series: Sequence[float], season: int, steps: int, origins: int = 10
) -> float | None:
    """Return the scaled error (MASE) of the last ``origins`` forecasts; None with few values."""
    ends = range(max(2, len(series) - origins - steps + 1), len(series) - steps + 1)
    if len(ends) < origins:
        return None
    missed = naive = 0.0
    for end in ends:
        forecast = seasonal(series[:end], season, steps)
        for value, actual in zip(forecast, series[end : end + steps], strict=True):
            missed += abs(value - actual)
            naive += abs(series[end - 1] - actual)
    if naive == 0:
        return 0.0 if missed == 0 else float("inf")
    return missed / naive


def _holt(series: Sequence[float]) -> tuple[float, float]:
    """Return level and trend by Holt's double exponential smoothing, damped."""
    level, trend = series[0], 0.0
    for value in series[1:]:
        before = level
        level = _SMOOTH * value + (1 - _SMOOTH) * (level + _DAMPING * trend)
        trend = _SMOOTH_TREND * (level - before) + (1 - _SMOOTH_TREND) * _DAMPING * trend
    return level, trend
