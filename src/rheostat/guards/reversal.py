"""Reversal: at a constant load, a scale-in that was reversed is not repeated for an hour, then two,
then four.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation
from rheostat.plural import counted
from rheostat.signals.last_resize import latest_size, resized

_MEAN_S = 30.0
"""Time constant of the mean arrival rate in seconds: single ticks at a low rate are noise, and a
load that rises and falls within two minutes is not constant."""

_HELD_MEAN_S = 60.0
"""Time constant of the mean rate that ends a hold: noise of 20 % moves the shorter mean by a
quarter several times a day."""

_SAME = 0.25
"""Relative difference up to which two mean rates count as the same load."""

_LONGEST = 24
"""The longest hold over the first one: each reversal at the same load doubles it."""


@dataclass(frozen=True, slots=True)
class Reversal:
    """Prevents scale-ins below the size before a scale-in that a scale-out reversed at the same
    load, for ``hold_s``, twice as long after each further reversal, at most 24 times.

    The hold ends early when the load changes by more than a quarter. Without an arrival rate the
    guard does nothing.
    """

    hold_s: float = 3600.0
    name: str = "reversal"

    def __post_init__(self) -> None:
        if not self.hold_s > 0:
            raise BadInput(f"reversal hold_s must be above 0 seconds, but it is {self.hold_s}")

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision; one that would repeat a reversed scale-in stops before it."""
        kept = self._remember(decision, observation, memory, now)
        hold, current = kept["hold"], observation.size
        if hold is None or now >= hold["until_s"] or current is None:
            return decision, kept
        least = min(current, hold["least"])
        if decision.target >= least:
            return decision, kept
        reason = (
            f"{decision.reason}; the last scale-in was reversed at this load: not below"
            f" {counted(least, 'executor')} for {hold['until_s'] - now:.0f} s more"
        )
        return replace(decision, target=least, reason=reason), kept

    def _remember(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> dict[str, Any]:
        rate = _mean_rate(observation, memory, now, "rate", _MEAN_S)
        held_rate = _mean_rate(observation, memory, now, "held_rate", _HELD_MEAN_S)
        at_s, change = resized(observation, memory)
        scaled_in, hold = memory.get("scaled_in_rate"), memory.get("hold")
        before = memory.get("scaled_in_from")
        # A schedule or another controller caused a change that was not requested.
        requested = change * memory.get("requested", 0) > 0
        if hold and "least" not in hold:  # a journal of an earlier version
            hold = {"lasts_s": self.hold_s, "least": observation.size or 1, **hold}
        # The lower bound covers a clock that was set back: the hold must not become longer.
        if hold and (
            now < hold["until_s"] - hold["lasts_s"] or not _is_same(hold["rate"], held_rate)
        ):
            hold = None
        if change > 0 and requested and _is_same(scaled_in, rate):
            lasts_s = min(2 * hold["lasts_s"], _LONGEST * self.hold_s) if hold else self.hold_s
            hold = {
                "rate": held_rate,
                "until_s": at_s + lasts_s,
                "lasts_s": lasts_s,
                "least": before or observation.size,
            }
        if change:
            scaled_in = rate if change < 0 and requested else None
            before = (observation.size or 0) - change
        elif not _is_same(scaled_in, rate):
            scaled_in = None
        return {
            "seen": latest_size(observation),
            "requested": decision.target - (observation.size or decision.target),
            "rate": rate,
            "held_rate": held_rate,
            "t_s": now,
            "scaled_in_rate": scaled_in,
            "scaled_in_from": before,
            "hold": hold,
        }


def _mean_rate(
    observation: Observation, memory: Memory, now: float, name: str, mean_s: float
) -> float | None:
    rate, before = observation.input_rows_per_s, memory.get(name)
    if rate is None or before is None:
        return before if rate is None else rate
    share = -math.expm1(-max(0.0, now - memory["t_s"]) / mean_s)
    return float(before + share * (rate - before))


def _is_same(before: float | None, rate: float | None) -> bool:
    return before is not None and rate is not None and abs(rate - before) <= _SAME * before
