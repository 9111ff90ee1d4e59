"""The ports between the loop and its environment; time is always an argument.

A sensor and an actuator derive from their ports: methods with a body have nothing to do there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rheostat.model import Capabilities, Decision, Memory, Observation, Record, Rescaling


class Sensor(Protocol):
    """Observes a job."""

    def observe(self, now: float) -> Sequence[Observation]:
        """Return one observation per running query, none while no query runs; an absent signal is
        None, never an exception.
        """
        ...

    def close(self) -> None:
        """Close connections."""
        return


class Policy(Protocol):
    """Decides how many executors a job needs: a pure function of the observation and the memory.

    It may have the attributes of ``SignalNeeds``.
    """

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the decision and what to remember; ``memory`` is ``{}`` at the first call and is
        never changed in place.
        """
        ...


@dataclass(frozen=True, slots=True)
class SignalNeeds:
    """The fields of ``Observation`` that cost calls on a live job and that a policy needs:
    ``stages``, ``cpu``, ``by_executor`` and, where the sink does not count, ``output_rows_per_s``.

    The stages of a batch are read every ``stages_every_s`` seconds at most: 2 ms of the driver's
    CPU per page, four to ten pages at a time.
    """

    live_signals: frozenset[str] = frozenset()
    stages_every_s: float = 10.0

    @classmethod
    def of(cls, policy: Policy) -> SignalNeeds:
        """Return what a policy names in attributes of the same names."""
        usual = cls()
        return cls(
            frozenset(getattr(policy, "live_signals", usual.live_signals)),
            getattr(policy, "stages_every_s", usual.stages_every_s),
        )


class Actuator(Protocol):
    """Changes a job's number of executors."""

    def capabilities(self) -> Capabilities:
        """Return what can be done here."""
        ...

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Move towards the target and return where that stands; called every tick with the target
        in force, so it must be idempotent.
        """
        ...

    def sizes(self, now: float) -> tuple[int | None, int | None] | None:
        """Return the executors at work and the target in force; None: the sensor observes both."""
        return None

    def resume(self, kept: Memory, now: float) -> None:
        """Continue from the memory of the last ``rescale`` of an earlier process."""
        return

    def start(self, tick: Callable[[], None]) -> None:
        """Act between the decisions from now on; ``tick`` is called in that thread regularly."""
        return

    def begin(self, decision: Decision, now: float) -> None:
        """Request the initial size where it is larger than what was requested before."""
        return

    def hold(self) -> None:
        """Leave the application as it is until the next ``rescale``; idempotent."""
        return

    def close(self) -> None:
        """Stop acting, and leave the application as it is."""
        return


class Journal(Protocol):
    """Keeps the records of the loop and the memory of policy and guards."""

    def restore(self) -> Memory:
        """Return the newest memory, ``{}`` if there is none."""
        ...

    def append(self, record: Record, memory: Memory) -> None:
        """Keep one tick and the memory after it."""
        ...

    def halted(self) -> str:
        """Return what halts the decisions, in words; empty where nothing does."""
        ...
