"""What a scale-out has brought, beside what the model promised: an undo where it is too little."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from rheostat.capacity.identify import identified
from rheostat.model import Observation

Trial: TypeAlias = Mapping[str, Any]
"""What is remembered of scale-outs: JSON values only."""

_BATCHES = 3
"""Batches at the new size that are heard."""

_SHARE = 0.3
"""Of the promised gain; below it the scale-out is taken back."""

_PROMISED = math.log(1.1)
"""A smaller promise cannot be told from noise."""

_BACK_OFF_S, _LONGEST_S = 600.0, 86_400.0
"""No more are asked for in that time; twice as long after each time again."""


def begun(trial: Trial, before: int, batches: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known once more than ``before`` were asked for: the model as it is now is the
    promise.
    """
    return {**trial, "before": before, "batches": batches, "gains": []}


def with_batch_gain(trial: Trial, now: Observation) -> dict[str, Any]:
    """Return what is known after a batch that began when the size had settled; after three of them
    the cap, where they gained too little.
    """
    if "before" not in trial or not now.executors or not now.batch_s or not now.batch_rows:
        return {**trial}
    if now.executors <= trial["before"] or now.executors != now.size:
        return {**trial}
    slots, rows = now.slots_per_executor or 1, now.batch_rows
    promise = identified(trial["batches"])
    if promise is None:
        return {**trial}
    before_s = promise.model.batch_s(rows, trial["before"] * slots)
    promised = math.log(before_s / promise.model.batch_s(rows, now.executors * slots))
    if promised < _PROMISED:
        return {**trial}
    gains = [*trial["gains"], math.log(before_s / now.batch_s) / promised]
    if len(gains) < _BATCHES:
        return {**trial, "gains": gains}
    times = trial.get("times", 0)
    kept: dict[str, Any] = {"times": 0}
    if sorted(gains)[_BATCHES // 2] < _SHARE:
        back_off_s = min(_LONGEST_S, _BACK_OFF_S * 2.0**times)
        kept = {"times": times + 1, "cap": trial["before"], "until_s": now.t_s + back_off_s}
    return kept


def cap(trial: Trial, now: Observation, slo_s: float) -> int | None:
    """Return the executors above which no more are asked for; None where there is no such cap, and
    once rows are late: then it is tried again.
    """
    until_s = trial.get("until_s", -math.inf)
    late = now.latency_s is not None and now.latency_s > slo_s
    in_force = not late and until_s - _LONGEST_S <= now.t_s < until_s
    return trial["cap"] if in_force else None
