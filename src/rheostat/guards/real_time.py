"""Real time: a query in real-time mode keeps the slots that its long batches occupy."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.model import Decision, Memory, Observation


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
        needed = -(-slots // cores) if slots and cores else 1
        kept = {"slots": slots} if slots else {}
        least = max(needed, observation.size or 1)
        if decision.target >= least:
            return decision, kept
        held = f"{slots} slots" if slots else "its slots"
        reason = f"{decision.reason}; a query in real-time mode holds {held} until a batch ends"
        return replace(decision, target=least, reason=reason), kept
