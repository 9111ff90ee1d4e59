"""A plant around a plant, for what happens to a plant from outside: faults, a machine whose pace
changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from rheostat.model import Capabilities, Decision, Observation, Rescaling
from rheostat.sim.plant import Ledger, Plant


class Around:
    """A plant around a plant that changes nothing."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def observe(self, now: float) -> Sequence[Observation]:
        """Return what the plant shows."""
        self.advance(now)
        return self._plant.observe(now)

    def capabilities(self) -> Capabilities:
        """Return the plant's."""
        return self._plant.capabilities()

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Hand the target on."""
        self.advance(now)
        return self._plant.rescale(decision, now)

    def advance(self, now: float) -> None:
        """Let the plant advance."""
        self._plant.advance(now)

    def ledger(self) -> Ledger:
        """Return the plant's."""
        return self._plant.ledger()
