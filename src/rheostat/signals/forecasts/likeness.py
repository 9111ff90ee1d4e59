"""Which moments of the past were like now: what followed them may follow now."""

from __future__ import annotations

import numpy as np

from rheostat.signals.forecasts.rate_history import Floats

LIKE = 0.3
"""Moments whose distance is below this are alike: rates, and changes, within 30 %."""


def distance(series: Floats, steps: int, now: float) -> Floats:
    """Return each moment's log distance from now, in the rate and its change."""
    levels = _log(series)
    changes = levels - np.concatenate((levels[:1].repeat(steps), levels[:-steps]))
    away: Floats = np.maximum(np.abs(levels - _log(now)), np.abs(changes - changes[-1]))
    return away


def _log(rates: Floats | float) -> Floats:
    return np.log(np.maximum(rates, 1e-9))
