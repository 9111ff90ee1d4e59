"""Similarity of past moments to the present one, by the rate and its change."""

from __future__ import annotations

import numpy as np

from rheostat.signals.forecasts.rate_history import Floats

LIKE = 0.3
"""Moments below this distance are similar: rate and change agree within 30 %."""


def distance(series: Floats, steps: int, now: float) -> Floats:
    """Return the log distance of each moment from the present, in the rate and its change."""
    levels = _log(series)
    changes = levels - np.concatenate((levels[:1].repeat(steps), levels[:-steps]))
    away: Floats = np.maximum(np.abs(levels - _log(now)), np.abs(changes - changes[-1]))
    return away


def _log(rates: Floats | float) -> Floats:
    return np.log(np.maximum(rates, 1e-9))
