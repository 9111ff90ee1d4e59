"""The ports between the loop and its environment; time is always an argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from rheostat.model import Capabilities, Decision, Memory, Observation, Record, Rescaling


class Sensor(Protocol):
    """Observes a job."""

    def observe(self, now: float) -> Sequence[Observation]:
        """Return one observation per running query, none while no query runs; an absent signal is
        None, never an exception.
        """
        ...


class Policy(Protocol):
    """Decides how many executors a job needs: a pure function of the observation and the memory.

    It may have an attribute ``live_signals``, names of fields of ``Observation``: ``stages``,
    ``cpu``, ``by_executor`` and (where the sink does not count) ``output_rows_per_s`` cost calls on
    a live job and are collected only if the policy names them. Another is ``stages_every_s``:
    how often it needs the stages, in seconds (10).
    """

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the decision and what to remember; ``memory`` is ``{}`` at the first call and is
        never changed in place.
        """
        ...


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


@runtime_checkable
class Holdable(Protocol):
    """An actuator that also acts between the decisions."""

    def hold(self) -> None:
        """Leave the application as it is until the next ``rescale``; idempotent."""
        ...


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
