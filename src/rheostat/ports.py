"""The ports between the loop and its environment; time is always an argument.

Sensors and actuators derive from their ports and inherit the methods that they do not need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rheostat.model import Capabilities, Decision, Memory, Observation, Record, Rescaling


class Sensor(Protocol):
    """Observes a job."""

    def observe(self, now: float) -> Sequence[Observation]:
        """Return an observation per running query; an absent signal is None, never an exception."""

    def close(self) -> None:
        """Close connections."""
        return


class Policy(Protocol):
    """Decides how many executors a job needs: a pure function of the observation and the memory.

    A policy may have the attributes of ``SignalNeeds``.
    """

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the decision and the new memory; ``memory`` is ``{}`` at the first call and is
        never changed in place.
        """


@dataclass(frozen=True, slots=True)
class SignalNeeds:
    """The costly signals of a live job that a policy needs: ``stages``, ``cpu``, ``by_executor``
    and, if the sink does not count its rows, ``output_rows_per_s``.

    The stages of a batch are read at most every ``stages_every_s`` seconds, because a page costs 2
    ms of the driver's CPU and one read takes four to ten pages.
    """

    live_signals: frozenset[str] = frozenset()
    stages_every_s: float = 10.0

    @classmethod
    def of(cls, policy: Policy) -> SignalNeeds:
        """Return the needs that a policy declares in attributes of the same names."""
        usual = cls()
        return cls(
            frozenset(getattr(policy, "live_signals", usual.live_signals)),
            getattr(policy, "stages_every_s", usual.stages_every_s),
        )


class Actuator(Protocol):
    """Changes a job's number of executors."""

    def capabilities(self) -> Capabilities:
        """Return whether the job can be rescaled, and what is not possible."""

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Move towards the target and return the progress; idempotent, because every tick calls it
        with the target in force.
        """

    def sizes(self, now: float) -> tuple[int | None, int | None] | None:
        """Return working executors and target in force; None if the sensor observes both."""
        return None

    def resume(self, kept: Memory, now: float) -> None:
        """Continue from the memory that the last ``rescale`` of an earlier process returned."""
        return

    def start(self, tick: Callable[[], None]) -> None:
        """Start acting between the decisions; the actuator's thread calls ``tick`` regularly."""
        return

    def begin(self, decision: Decision, now: float) -> None:
        """Request the initial size if it is larger than what was requested before."""
        return

    def hold(self) -> None:
        """Change nothing until the next ``rescale``; idempotent."""
        return

    def close(self) -> None:
        """Stop acting; the application keeps its executors."""
        return


class Journal(Protocol):
    """Keeps the records of the loop and the memory of policy and guards."""

    def restore(self) -> Memory:
        """Return the newest memory, ``{}`` if none is stored."""

    def append(self, record: Record, memory: Memory) -> None:
        """Store one tick and the memory after it."""

    def halted(self) -> str:
        """Return why decisions are halted; empty if they are not."""
