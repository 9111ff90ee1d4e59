"""The loop between two runs of an application with ``min=0``."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from tests.fakes import RecordingActuator

from rheostat.guards import standard_guards
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.model import Decision, Limits, Observation, Rescaling
from rheostat.policies.rates.deadline import Deadline
from rheostat.ports import Sensor
from rheostat.protocols.release import SETTLE_S, Release

START_S = 10.0
ROWS = 1000


class Runs(RecordingActuator, Sensor):
    """Runs of an hourly job, each with a backlog; executors register ``START_S`` seconds after
    their request and process 100 rows/s each.
    """

    def __init__(self) -> None:
        super().__init__()
        self.running = False
        self.executors, self.target = 2, 2
        self.registers_s = math.inf
        self.backlog, self.last_s = 0.0, 0.0
        self.held = False

    def begin_run(self, backlog: float) -> None:
        self.running, self.backlog = True, backlog

    def quiet_s(self, now: float) -> float:
        return 0.0 if self.running else math.inf

    def observe(self, now: float) -> Sequence[Observation]:
        if now >= self.registers_s:
            self.executors, self.registers_s = self.target, math.inf
        elapsed_s, self.last_s = now - self.last_s, now
        if not self.running:
            return ()
        rows = min(self.backlog, elapsed_s * 100.0 * self.executors)
        self.backlog -= rows
        self.running = self.backlog > 0
        return (
            Observation(
                t_s=now,
                lag_rows=self.backlog,
                batch_rows=round(rows) or None,
                batch_s=elapsed_s if rows else None,
            ),
        )

    def sizes(self, now: float) -> tuple[int, int]:
        return self.executors, self.target

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        super().rescale(decision, now)
        self.target = decision.target
        self.executors = min(self.executors, self.target)
        if self.executors < self.target and self.registers_s == math.inf:
            self.registers_s = now + START_S
        return Rescaling(phase="steady", memory={"at": now})

    def hold(self) -> None:
        self.held = True


def loop_of(job: Runs, journal: MemoryJournal | None = None, floor: int = 0) -> Loop:
    loop = Loop(
        sensor=job,
        policy=Deadline(within_s=100.0),
        guards=standard_guards(Limits(max_executors=10)),
        actuator=job,
        journal=journal or MemoryJournal(),
    )
    loop.release = Release(job.quiet_s, lambda _: floor)
    return loop


def play(loop: Loop, since_s: float, seconds: float) -> None:
    for tick in range(round(seconds / 5.0)):
        loop.step(since_s + 5.0 * (tick + 1))


def test_an_hourly_job_has_executors_only_during_its_runs() -> None:
    job, journal = Runs(), MemoryJournal()
    loop = loop_of(job, journal)
    job.begin_run(10 * ROWS)
    play(loop, 0.0, 300.0)
    assert (job.running, job.executors, job.target) == (False, 0, 0)
    assert journal.records[-1].rescaling.detail == "no executors between two runs (min=0)"
    job.begin_run(40 * ROWS)
    play(loop, 300.0, 40.0)
    # The throughput of the last run is known: 40,000 rows need several executors.
    assert job.executors >= 4
    play(loop, 340.0, 300.0)
    assert (job.running, job.backlog, job.target) == (False, 0.0, 0)


def test_the_first_run_after_a_release_waits_only_for_its_first_executor() -> None:
    job, journal = Runs(), MemoryJournal()
    loop = loop_of(job, journal)
    play(loop, 0.0, SETTLE_S + 5.0)
    assert job.target == 0
    job.begin_run(100 * ROWS)
    play(loop, SETTLE_S + 5.0, 5.0)
    assert journal.records[-1].rescaling.detail == "2 executors requested for the run that begins"
    play(loop, SETTLE_S + 10.0, START_S + 5.0)
    assert journal.records[-1].raw is not None


def test_the_scheduled_floor_is_the_size_between_two_runs() -> None:
    job = Runs()
    play(loop_of(job, floor=5), 0.0, SETTLE_S + START_S + 5.0)
    assert job.executors == 5


def test_without_min_0_the_executors_stay() -> None:
    job = Runs()
    loop = loop_of(job)
    loop.release = None
    play(loop, 0.0, 600.0)
    assert job.requests == []


@pytest.mark.parametrize("end", ["halt", "close"])
def test_executors_are_requested_again_when_decisions_end(end: str) -> None:
    job = Runs()
    loop = loop_of(job)
    play(loop, 0.0, SETTLE_S + 5.0)
    if end == "halt":
        loop.paused = "an operator"
        loop.step(100.0)
        assert job.held
    else:
        loop.close()
    assert job.target == 2
    assert len(job.requests) == len({now for now, _ in job.requests})


def test_a_job_that_was_stopped_during_a_run_keeps_its_size() -> None:
    job = Runs()
    job.begin_run(ROWS)
    loop = loop_of(job)
    play(loop, 0.0, 5.0)
    requests = len(job.requests)
    loop.close()
    assert len(job.requests) == requests
