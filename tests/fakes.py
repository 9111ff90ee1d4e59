"""In-memory ports: a scripted sensor and a recording actuator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rheostat.model import Capabilities, Decision, Observation, Rescaling
from rheostat.ports import Actuator, Sensor


class ScriptedSensor(Sensor):
    """Returns one prepared entry per tick: observations, none, or an exception that it raises."""

    def __init__(
        self, script: Iterable[Observation | Sequence[Observation] | Exception | None]
    ) -> None:
        self._script = iter(script)

    def observe(self, now: float) -> Sequence[Observation]:
        """Return the script's entry for this tick."""
        entry = next(self._script, None)
        if isinstance(entry, Exception):
            raise entry
        if entry is None:
            return ()
        return (entry,) if isinstance(entry, Observation) else tuple(entry)


class RecordingActuator(Actuator):
    """Records every decision as ``(now, decision)`` and does nothing else."""

    def __init__(self) -> None:
        self.requests: list[tuple[float, Decision]] = []

    @property
    def targets(self) -> list[int]:
        """The requested targets, oldest first."""
        return [decision.target for _, decision in self.requests]

    def capabilities(self) -> Capabilities:
        """Return that the job can be scaled."""
        return Capabilities(can_scale=True)

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Record the decision."""
        self.requests.append((now, decision))
        return Rescaling(phase="steady")
