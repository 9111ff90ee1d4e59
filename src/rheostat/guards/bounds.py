"""Guards of the size: over-provisioning, receivers' room, real time, step limits and bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from rheostat.capacity.receiver_cores import cores_needed, executors_holding
from rheostat.errors import BadInput
from rheostat.model import Decision, Limits, Memory, Observation


@dataclass(frozen=True, slots=True)
class OverProvisioning:
    """Enlarges a new size by ``factor`` (rounded up); a scale-in never becomes a scale-out.

    A decision to keep the size is unchanged, so that the factor does not accumulate over ticks.
    """

    factor: float = 0.2
    name: str = "over_provisioning"

    def __post_init__(self) -> None:
        if not self.factor >= 0:
            raise BadInput(
                f"over-provisioning's factor must be at least 0, but it is {self.factor}"
            )

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision with its target enlarged."""
        current, decided = observation.size, decision.target
        if current is None or decided == current:
            return decision, {}
        # Rounded first: 50 x 1.1 is 55.00000000000001, whose ceiling would be 56.
        larger = math.ceil(round(decided * (1 + self.factor), 9))
        target = larger if decided > current else min(current, larger)
        if target == decided:
            return decision, {}
        reason = f"{decision.reason}; {self.factor:.0%} over-provisioned"
        return replace(decision, target=target, reason=reason), {}


@dataclass(frozen=True, slots=True)
class ReceiverRoom:
    """Raises the target to the executors that hold all receivers plus one core for batches
    (SPARK-12133, version 2); changes nothing without receivers or with unknown cores.
    """

    name: str = "receiver_room"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the smallest size that holds the receivers."""
        receivers, cores = observation.receivers, observation.slots_per_executor
        if not receivers or not cores:
            return decision, {}
        least = executors_holding(receivers, cores)
        if decision.target >= least:
            return decision, {}
        reason = f"{decision.reason}; {cores_needed(receivers)}"
        return replace(decision, target=least, reason=reason), {}


@dataclass(frozen=True, slots=True)
class StepLimits:
    """Limits a decision to ``out`` executors more and ``in_`` fewer; None means no limit."""

    out: int | None = None
    in_: int | None = None
    name: str = "step_limits"

    def __post_init__(self) -> None:
        for which, value in (("out", self.out), ("in_", self.in_)):
            if value is not None and value < 1:
                raise BadInput(f"step limit {which} must be at least 1 executor, but it is {value}")

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the furthest size within one step."""
        current = observation.size
        if current is None:
            return decision, {}
        target, limit = decision.target, ""
        if self.out is not None and target > current + self.out:
            target, limit = current + self.out, f"{self.out} more"
        if self.in_ is not None and target < current - self.in_:
            target, limit = current - self.in_, f"{self.in_} fewer"
        if not limit:
            return decision, {}
        reason = f"{decision.reason}; at most {limit} at a time"
        return replace(decision, target=target, reason=reason), {}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Clamps the target to the limits.

    With ``follows``, the maximum is a default that rises to the largest size of the application so
    far.
    """

    limits: Limits
    follows: bool = False
    name: str = "bounds"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision within [min, max]; a maximum that follows the size is remembered."""
        low, high = self.limits.min_executors, self.limits.max_executors
        kept: Memory = {}
        if self.follows:
            # Remembered, so that the maximum does not fall with the size after a scale-in.
            high = max(high, memory.get("high", high), observation.size or 0)
            kept = {"high": high}
        if decision.target < low:
            reason = f"{decision.reason}; min executors is {low}"
            return replace(decision, target=low, reason=reason), kept
        if decision.target > high:
            reason = f"{decision.reason}; max executors is {high}"
            return replace(decision, target=high, reason=reason), kept
        return decision, kept


@dataclass(frozen=True, slots=True)
class RealTime:
    """Keeps the size while a query runs in real-time mode, and raises it to what its slots need.

    All stages of a batch run at once until it ends, so removing an executor would end the batch. No
    slots are observed between two batches; the last known number is used.
    """

    name: str = "real_time"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the smallest size that a real-time query needs."""
        if observation.real_time_s is None:
            return decision, {}
        slots = observation.real_time_slots or memory.get("slots")
        cores = observation.slots_per_executor
        needed = math.ceil(slots / cores) if slots and cores else 1
        kept = {"slots": slots} if slots else {}
        least = max(needed, observation.size or 1)
        if decision.target >= least:
            return decision, kept
        held = f"{slots} slots" if slots else "its slots"
        reason = f"{decision.reason}; a query in real-time mode holds {held} until a batch ends"
        return replace(decision, target=least, reason=reason), kept
