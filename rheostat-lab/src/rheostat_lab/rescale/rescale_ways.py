"""The ways to change the size of a running stateful query: Rheostat's, Spark's own two, and a
restart of the query.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rheostat.api import attach
from rheostat.config import LoopOptions
from rheostat.errors import RheostatError
from rheostat.model import Decision, Memory, Observation, Record
from rheostat.spark.handle import Handle
from rheostat_lab.rescale.stateful_job import StatefulJob

WAYS = ("rheostat", "spark", "locality0", "restart")
LOOP = LoopOptions(interval_s=1.0, cooldown_out_s=0.0, cooldown_in_s=0.0, reversal_hold_s=0.0)


@dataclass(frozen=True, slots=True)
class Mark:
    """A rescale: Unix times of its request and settling, and the sizes before and after."""

    before: int
    after: int
    requested_s: float
    settled_s: float
    detail: str = ""

    @property
    def kind(self) -> str:
        """``out`` or ``in``."""
        return "out" if self.after > self.before else "in"


class Scripted:
    """A policy that returns the script's number of executors."""

    def __init__(self, executors: int) -> None:
        self.executors = executors

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the script's number."""
        return Decision(target=self.executors, reason="set by the script"), memory


class RescaleMethod(Protocol):
    """Changes the size and returns when the change has settled."""

    def rescale(self, executors: int) -> Mark:
        """Rescale the application to this number of executors."""

    def stop(self) -> None:
        """Stop; the application remains unchanged."""


class Live:
    """The production loop with a scripted policy: ``force`` is with placement, ``off`` without."""

    def __init__(
        self,
        job: StatefulJob,
        executors: int,
        limits: tuple[int, int],
        placement: str,
        journal: Path,
        deadline_s: float = 600.0,
    ) -> None:
        self._job = job
        self._deadline_s = deadline_s
        self._policy = Scripted(executors)
        self._records: list[Record] = []
        self.handle: Handle = attach(
            job.spark,
            policy=self._policy,
            limits=limits,
            placement=placement,
            journal=journal,
            loop=LOOP,
        )
        self.handle.watch(self._records.append)
        self.await_steady(executors)

    def rescale(self, executors: int) -> Mark:
        """Request the size and wait until the loop reports it as steady."""
        before, known = self._policy.executors, len(self._records)
        self._policy.executors = executors
        self.await_steady(executors)
        news = self._records[known:]
        first = next(record for record in news if record.target == executors)
        return Mark(
            before,
            executors,
            first.t_s,
            news[-1].t_s,
            "; ".join(dict.fromkeys(record.rescaling.detail for record in news)),
        )

    @property
    def last(self) -> Record | None:
        """The loop's last record."""
        return self._records[-1] if self._records else None

    def ask(self, executors: int) -> None:
        """Request the size without waiting."""
        self._policy.executors = executors

    def await_steady(self, executors: int) -> None:
        """Wait until the loop reports that size as steady; raises RheostatError after the deadline,
        with the progress of the change.
        """
        try:
            self._job.until(
                f"steady at {executors} executors",
                lambda: self._is_steady(executors),
                self._deadline_s,
            )
        except RheostatError as fault:
            stood = (
                f"{self.last.rescaling.phase}, {self.last.rescaling.detail}"
                if self.last
                else "no decision yet"
            )
            raise RheostatError(
                f"{fault}; {len(self._job.executors())} registered; {stood}"
            ) from None

    def _is_steady(self, executors: int) -> bool:
        last = self._records[-2:]  # the first record of a target may describe the previous one
        steady = (
            len(last) == 2
            and all(record.target == executors for record in last)
            and last[-1].rescaling.phase == "steady"
        )
        return steady and len(self._job.executors()) == executors

    def stop(self) -> None:
        """End the loop."""
        self.handle.stop()


class Restart:
    """The operator's way: change the executors, then restart the query from its checkpoint in the
    same application.
    """

    def __init__(self, job: StatefulJob, executors: int) -> None:
        self._job = job
        self._executors = executors

    def rescale(self, executors: int) -> Mark:
        """Scaling out, add the executors first and restart when they have registered; scaling in,
        the other way round.
        """
        job, before, requested_s = self._job, self._executors, time.time()
        self._executors = executors
        job.internals.executors.request_total(executors)
        if executors > before:
            job.until(f"{executors} executors", lambda: len(job.executors()) >= executors)
        job.run_on(1)
        job.stop_query()
        if executors < before:
            job.internals.executors.kill_idle(job.executors()[executors:])
        job.start_query()
        job.run_on(1)
        job.until(f"{executors} executors", lambda: len(job.executors()) == executors)
        return Mark(before, executors, requested_s, time.time())

    def stop(self) -> None:
        """Do nothing, because nothing runs in the background."""


def open_method(
    name: str, job: StatefulJob, executors: int, limits: tuple[int, int], folder: Path
) -> RescaleMethod:
    """Return a way of ``WAYS`` on a running job with ``executors`` executors."""
    if name == "restart":
        return Restart(job, executors)
    return Live(
        job, executors, limits, "force" if name == "rheostat" else "off", folder / "journal"
    )


def options_of(name: str) -> dict[str, str]:
    """Return the Spark options that are specific to a way."""
    return {"spark.locality.wait": "0s"} if name == "locality0" else {}
