"""The port of a simulated job: a sensor and an actuator with its own time and a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rheostat.model import Capabilities, Decision, Observation, Rescaling
from rheostat.ports import Actuator, Sensor

Floats: TypeAlias = NDArray[np.float64]


class Plant(Sensor, Actuator, Protocol):
    """A simulated job: the ports of the loop, and what only a simulation knows."""

    def advance(self, now: float) -> None:
        """Run all events due up to ``now``; a past time changes nothing."""

    def ledger(self) -> Ledger:
        """Return the ledger up to the last ``advance``."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A step function: ``values[i]`` from ``t_s[i]`` on; the times never fall."""

    t_s: Floats
    values: Floats

    def at(self, t_s: Floats) -> Floats:
        """Return the value at each time; before the first time, the first value."""
        # Search from the right: at the time of a change the new value applies.
        return self.values[np.maximum(np.searchsorted(self.t_s, t_s, side="right") - 1, 0)]

    def integral(self, start_s: float, end_s: float) -> float:
        """Return value x seconds from ``start_s`` to ``end_s``, 0 before the first time."""
        # The last value applies until the end; clipping removes the time outside.
        edges = np.append(self.t_s, max(end_s, float(self.t_s[-1])))
        held_s = np.diff(np.clip(edges, start_s, end_s))
        return float(held_s @ self.values)

    def changes(self, start_s: float) -> int:
        """Return the number of changes from ``start_s`` on."""
        later = self.t_s[1:] >= start_s
        return int(np.count_nonzero((np.diff(self.values) != 0) & later))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What happened to a job from 0 s to ``end_s``.

    ``latency_s``, ``rows`` and ``commit_s`` describe committed groups of rows in order of arrival;
    ``left_age_s`` and ``left_rows`` uncommitted ones; ``lag_rows`` is the backlog at ``lag_t_s``.
    """

    end_s: float
    arrived_rows: float
    committed_rows: float
    latency_s: Floats
    rows: Floats
    commit_s: Floats
    left_age_s: Floats
    left_rows: Floats
    lag_t_s: Floats
    lag_rows: Floats
    registered: Steps
    """Registered executors."""

    paid: Steps
    """Paid executors: from the request to the end of the process."""

    targets: Steps
    """The effective target; each change of it is a rescaling."""

    executors_started: int
    downtime_s: float
    """Seconds without processing because of a change of size (0 for live changes)."""


class PlantWrapper(Plant):
    """Forwards all calls to another plant; subclasses inject faults or change the pace."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def observe(self, now: float) -> Sequence[Observation]:
        """Return the observations of the wrapped plant at ``now``."""
        self.advance(now)
        return self._plant.observe(now)

    def capabilities(self) -> Capabilities:
        """Return the capabilities of the wrapped plant."""
        return self._plant.capabilities()

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Forward the decision to the wrapped plant."""
        self.advance(now)
        return self._plant.rescale(decision, now)

    def advance(self, now: float) -> None:
        """Advance the wrapped plant to ``now``."""
        self._plant.advance(now)

    def ledger(self) -> Ledger:
        """Return the ledger of the wrapped plant."""
        return self._plant.ledger()
