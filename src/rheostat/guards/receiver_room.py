"""Receiver room: a fleet of receivers keeps the cores that its load asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.capacity.receiver_cores import cores_needed, executors_holding
from rheostat.model import Decision, Memory, Observation


@dataclass(frozen=True, slots=True)
class ReceiverRoom:
    """Raises the target to the executors that hold all receivers and a core for batches
    (SPARK-12133, version 2); without receivers, or with unknown cores, it changes nothing.
    """

    name: str = "receiver_room"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the least size that holds the receivers."""
        receivers, cores = observation.receivers, observation.slots_per_executor
        if not receivers or not cores:
            return decision, {}
        least = executors_holding(receivers, cores)
        if decision.target >= least:
            return decision, {}
        reason = f"{decision.reason}; {cores_needed(receivers)}"
        return replace(decision, target=least, reason=reason), {}
