"""The algorithm of Kubernetes' HorizontalPodAutoscaler (autoscaling/v2), for any metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.signals.last_resize import latest_size, resized
from rheostat.signals.statistics.windows import highest, lowest

SELECT = ("Max", "Min", "Disabled")
UNSET = "unset"
"""Alternative to ``SELECT``: the rules of a manifest without ``behavior``."""

_INT32_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ScalingPolicy:
    """At most ``value`` pods, or percent of the initial size, per ``period_s`` seconds."""

    kind: str
    value: float
    period_s: float


@dataclass(frozen=True, slots=True)
class Rules:
    """The limits of one direction: stabilization window, scaling policies, and their selection."""

    window_s: float
    policies: tuple[ScalingPolicy, ...]
    select: str

    def limit(
        self, current: int, changes: Iterable[tuple[float, int]], now: float, sign: int
    ) -> int:
        """Return the furthest size that the policies allow (``sign`` 1: out, -1: in).

        Without ``behavior``: out to double or 4 (``calculateScaleUpLimit``), in without limit.
        """
        if self.select == UNSET:
            return max(2 * current, 4) if sign > 0 else 0
        if self.select == "Disabled" or not self.policies:
            return current
        steps = [_reach(policy, current, changes, now, sign) for policy in self.policies]
        # Max selects the policy with the largest change, which for scaling in is the smallest size.
        furthest = max if (self.select == "Max") == (sign > 0) else min
        # Earlier changes may have used up the period: the size then stays, and is never reverted.
        return max(current, furthest(steps)) if sign > 0 else min(current, furthest(steps))


def _reach(
    policy: ScalingPolicy, current: int, changes: Iterable[tuple[float, int]], now: float, sign: int
) -> int:
    """Return start +- value with Kubernetes' rounding (out: ceiling; in: truncated)."""
    # The reference is the size at the start of the period, whatever steps followed.
    start = current - sum(change for t, change in changes if now - policy.period_s < t <= now)
    if policy.kind == "Pods":
        return start + sign * int(policy.value)
    reached = start * (1 + sign * policy.value / 100)
    return math.ceil(reached) if sign > 0 else int(reached)


@lru_cache(maxsize=64)
def parse_policies(text: str) -> tuple[ScalingPolicy, ...]:
    """Return the scaling policies of a text such as ``Percent 100 15, Pods 4 15``."""
    return tuple(_parse_policy(part) for part in text.split(",") if part.strip())


def _parse_policy(text: str) -> ScalingPolicy:
    match = re.fullmatch(r"\s*(Pods|Percent)\s+(\d+)\s+(\d+)\s*", text, re.IGNORECASE)
    if match is None or int(match[2]) == 0 or not 0 < int(match[3]) <= 1800:
        raise BadInput(
            "a scaling policy is 'Pods N SECONDS' or 'Percent N SECONDS' (1 to 1800 s), but it is"
            f" {text.strip()!r}"
        )
    return ScalingPolicy(match[1].capitalize(), float(match[2]), float(match[3]))


@dataclass(frozen=True, slots=True)
class Reading:
    """A metric and its target in whole steps, as the controller reads them; ``steps`` per unit.

    Percent for utilization (``GetResourceUtilizationRatio``), otherwise thousandths. ``is_total``:
    the executors share the value (``AverageValue`` of an external metric).
    """

    value: float
    target: float
    steps: int = 1000
    is_total: bool = False

    def over_target(self, share: float) -> float:
        """Return ``share`` of the value divided by the target."""
        target = self.target * self.steps
        # Truncated to an int64 of whole steps; rounded first, because 0.57 x 100 is
        # 56.99999999999999.
        return int(round(self.value * share * self.steps, 6)) / (round(target, 6) or target)

    def ratio(self, executors: int) -> float:
        """Return the ratio that is compared with the tolerance."""
        return self.over_target(1.0) / (executors if self.is_total else 1)

    def proposal(self, current: int, ready: int, up: float, down: float) -> int:
        """Return ceil(ratio x ready executors), or ``current`` within the tolerance.

        Starting executors count as idle when scaling out. Source: Kubernetes,
        ``ReplicaCalculator``.
        """
        ratio = self.ratio(current)
        if 1 - down <= ratio <= 1 + up:
            return current
        if self.is_total:
            return _ceil(self.over_target(1.0))
        if ratio > 1 and ready < current:
            # Starting executors count as using nothing (in Kubernetes: missing pods, scale up).
            ratio = self.over_target(ready / current)
            return current if ratio <= 1 + up else _ceil(ratio * current)
        return _ceil(ratio * ready)


def _ceil(executors: float) -> int:
    return math.ceil(min(executors, _INT32_MAX))


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """Computes a size from metric / target: tolerance, missing metrics, windows, policies."""

    up: Rules
    down: Rules
    tolerance_up: float = 0.1
    tolerance_down: float = 0.1

    def decide(
        self, readings: Mapping[str, Reading | None], observation: Observation, memory: Memory
    ) -> tuple[Decision, dict[str, Any]]:
        """Return the largest proposal after windows and policies."""
        kept = self._remember(observation, memory)
        current, ready = observation.size, _ready(observation)
        read = {
            name: reading
            for name, reading in readings.items()
            if reading is not None and math.isfinite(reading.value * reading.steps)
        }
        known = {name: reading.ratio(current or 1) for name, reading in read.items()}
        ratios = {name: known.get(name) for name in readings}
        if not current or not ready or not known:
            missing = "metric is known" if current and ready else "executor is ready"
            return hold(observation, f"size kept: no {missing}", ratios), kept
        proposed = {
            name: reading.proposal(current, ready, self.tolerance_up, self.tolerance_down)
            for name, reading in read.items()
        }
        leading = max(proposed, key=lambda name: (proposed[name], known[name]))
        wanted, evidence = proposed[leading], {**ratios, "wanted": proposed[leading]}
        # The absent metric might be the one that needs the executors.
        if wanted < current and len(known) < len(ratios):
            absent = ", ".join(name for name in ratios if name not in known)
            why = f"size kept: {absent} is unknown, which forbids scaling down"
            return hold(observation, why, evidence), kept
        # In Kubernetes' order: the windows first, then the rate limits.
        recommended = self._stabilize(current, wanted, observation.t_s, kept)
        limited = self._rated(current, recommended, kept["changes"], observation.t_s)
        share = f"{leading} is {known[leading]:.2f} of its target"
        reason = f"{share}: {counted(wanted, 'executor')} needed"
        reason += f"; {recommended} by the stabilization window" if recommended != wanted else ""
        reason += f"; {limited} by the scaling policies" if limited != recommended else ""
        return Decision(target=max(1, limited), reason=reason, evidence=evidence), kept

    def _remember(self, observation: Observation, memory: Memory) -> dict[str, Any]:
        """Return the memory with this tick's change; the windows start with the current size."""
        now, size, change = observation.t_s, observation.size, resized(observation, memory)
        longest_s = max(
            (policy.period_s for rules in (self.up, self.down) for policy in rules.policies),
            default=0.0,
        )
        initial = [(now, size)] if size else []
        return {
            "highest": memory.get("highest") or initial,
            "lowest": memory.get("lowest") or initial,
            "changes": [
                *((t, n) for t, n in memory.get("changes", ()) if now - longest_s < t <= now),
                *([change] if change[1] else []),
            ],
            "seen": latest_size(observation),
        }

    def _stabilize(self, current: int, wanted: int, now: float, kept: dict[str, Any]) -> int:
        """Return the size within both windows: out to the smallest, in to the largest value."""
        kept["highest"] = highest(kept["highest"], now, wanted, self.down.window_s)
        kept["lowest"] = lowest(kept["lowest"], now, wanted, self.up.window_s)
        # As in stabilizeRecommendationWithBehaviors, each direction has a window of its own.
        return int(min(max(current, kept["lowest"][0][1]), kept["highest"][0][1]))

    def _rated(
        self, current: int, wanted: int, changes: list[tuple[float, int]], now: float
    ) -> int:
        if wanted > current:
            return min(wanted, self.up.limit(current, changes, now, 1))
        return max(wanted, self.down.limit(current, changes, now, -1))


def _ready(observation: Observation) -> int:
    size = observation.size or 0
    return size if observation.executors is None else min(size, observation.executors)
