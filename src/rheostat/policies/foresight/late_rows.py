"""How many rows were late, of those of the last hour and of the last five minutes, and how many may
still be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rheostat.model import Memory, Observation

_SHARE = 0.008
"""Of the 1 % of rows that may be late; the rest is for what the model does not know."""

_WINDOW_SHARE = 0.08
"""Of the 10 % that may be late in five minutes."""

HOUR_S, WINDOW_S = 3600.0, 300.0
_SPANS = {"hour": HOUR_S, "window": WINDOW_S}
"""Rows count e times less when they are so many seconds older."""

_GAP_S = 60.0


def counted(now: Observation, memory: Memory, slo_s: float) -> dict[str, Any]:
    """Return rows and late rows so far, by the mean latency of the last batch; of a gap between two
    looks only its last minute.
    """
    since_s = min(max(0.0, now.t_s - memory.get("newest_s", now.t_s)), _GAP_S)
    rows = (now.input_rows_per_s or 0.0) * since_s
    late = rows * _late_share(now, slo_s)
    counts = {}
    for name, span_s in _SPANS.items():
        keep = math.exp(-since_s / span_s)
        rows_before, late_before = memory.get("late", {}).get(name, (0.0, 0.0))
        counts[name] = [keep * rows_before + rows, keep * late_before + late]
    return counts


def may_be_late(late: Mapping[str, Any]) -> tuple[float, float]:
    """Return the shares of rows that may still be late: in the long run, and in five minutes.

    While a job is young its five minutes are most of its rows: they may have little more late than
    the whole.
    """
    spent = {name: gone / rows if rows > 0 else 0.0 for name, (rows, gone) in late.items()}
    (all_rows, _), (recent_rows, _) = late["hour"], late["window"]
    recent = min(_WINDOW_SHARE, _SHARE * all_rows / recent_rows if recent_rows > 0 else _SHARE)
    return max(0.0, _SHARE - spent["hour"]), max(0.0, recent - spent["window"])


def late_by(now: Observation, longer_s: float, slo_s: float) -> float:
    """Return the seconds of arrivals of which the last batch was late, where none had been with
    rows that are committed ``longer_s`` earlier; else 0: more had waited than could be in time.
    """
    if now.latency_s is None or not now.batch_rows or not now.input_rows_per_s:
        return 0.0
    earlier = replace(now, latency_s=now.latency_s - longer_s)
    if _late_share(earlier, slo_s) > 0:
        return 0.0
    return _late_share(now, slo_s) * now.batch_rows / now.input_rows_per_s


def _late_share(now: Observation, slo_s: float) -> float:
    if now.latency_s is None or not now.batch_rows or not now.input_rows_per_s:
        return 0.0
    spread_s = max(now.batch_rows / now.input_rows_per_s, 1e-3)
    return min(1.0, max(0.0, (now.latency_s + spread_s / 2 - slo_s) / spread_s))
