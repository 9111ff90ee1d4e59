"""Owns a job's process and runs the table of a restart: observes, takes the step whose event holds,
carries out its order, records it.

Only the state is kept, so a new supervisor continues after one that was killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from rheostat.journal.control_channel import LOOP, PERSON, ControlChannel, Order
from rheostat.restart.request_selection import RestartConfig, is_unlike, select_request
from rheostat.restart.restart_conditions import ALIVE, Facts, events
from rheostat.restart.restart_log import RestartLog
from rheostat.restart.restart_protocol import RESTART
from rheostat.restart.restart_state import RestartState

LOOK_S = 0.2
"""Between two looks at the job."""

END_GRACE_S = 5.0
"""A script whose queries have been stopped ends by itself within this, or is ended."""

HOPELESS = "a batch is planned that the script did not commit, started for one batch of each query"

FINISH_LIMIT_S = 900.0
"""One batch of each query, start of the application included."""


class Job(Protocol):
    """The process of the job, of which there is one at a time."""

    def start(self, order: Order) -> None:
        """Start it with an order; a process that an earlier supervisor has left ends first."""
        ...

    def process(self) -> str:
        """Tell whether it was started by this supervisor and runs: none, alive, left."""
        ...

    def stop(self) -> int:
        """End it if it runs, and return its exit code."""
        ...


class States(Protocol):
    """The state of stopped queries, by their checkpoints."""

    def partitions(self, checkpoints: Sequence[str]) -> list[int]:
        """Return the state partitions of each checkpoint that has state."""
        ...

    def uncommitted(self, checkpoint: str) -> bool:
        """Tell whether a batch is planned that is not committed."""
        ...

    def repartition(self, checkpoint: str, partitions: int, sink: str) -> str:
        """Give it so many state partitions, verified; return why that was not possible, or nothing.

        ``sink`` is the folder that the query writes files to, empty for another sink.
        """
        ...


class Supervisor:
    """One supervised job, continued from the state in its ``journal``.

    While it is ``halted`` (the kill switch) only a person's requests are carried out.
    ``on_step`` is called with every new state.
    """

    def __init__(
        self,
        state: RestartState,
        *,
        channel: ControlChannel,
        journal: RestartLog,
        job: Job,
        states: States,
        config: RestartConfig,
        halted: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.time,
        on_step: Callable[[RestartState], None] = lambda _: None,
    ) -> None:
        self.state = state
        self._channel = channel
        self._journal = journal
        self._job = job
        self._states = states
        self._config = config
        self._halted = halted
        self._clock = clock
        self._on_step = on_step

    def run(self, sleep: Callable[[float], None] = time.sleep) -> int:
        """Go on until the job has ended by itself, and return its exit code; whatever happens, its
        process is ended.
        """
        try:
            while self.state.phase != RESTART.end:
                if not self.step():
                    sleep(LOOK_S)
        finally:
            code = self._job.stop()
        return code

    def step(self) -> bool:
        """Take the step whose event holds; False where none does."""
        now = self._clock()
        if self.state.phase == "running":
            self._learn()
        wanted = self._due(now)
        step = RESTART.after(self.state.phase, events(self._look(now, wanted is not None)))
        if step is None:
            return False
        if step.event == "due" and wanted is not None:
            self.state = wanted
        if step.event == "hopeless":
            self.state = replace(self.state, refusal=HOPELESS)
        self.state = self._counted(step.phase, step.to, now)
        self._enter(step.to, now)
        if step.order:
            before = self.state
            self._orders()[step.order]()
            if self.state != before:
                self._journal.note(self.state)
        return True

    def _look(self, now: float, is_due: bool) -> Facts:
        state, report = self.state, self._channel.report()
        mine = report if report is not None and report.run == state.run else None
        resting = state.phase in ("stopped", "repartitioning")
        unlike = self._unlike() if resting else []
        return Facts(
            process=self._job.process(),
            works=mine is not None and mine.works_s is not None,
            drained=mine is not None and mine.drained_s is not None,
            due=is_due,
            unlike=bool(unlike),
            uncommitted=any(map(self._states.uncommitted, unlike)),
            refused=bool(state.refusal),
            finishes=state.finishes,
            phase_s=now - state.since_s,
            limit_s=self._limit_s(state.phase),
        )

    def _limit_s(self, phase: str) -> float:
        limits = {
            "draining": self._config.drain_limit_s,
            "stopping": END_GRACE_S,
            "finishing": FINISH_LIMIT_S,
        }
        return limits.get(phase, float("inf"))

    def _due(self, now: float) -> RestartState | None:
        if self.state.phase != "running" or self._job.process() != ALIVE:
            return None
        loop, person = self._channel.request(LOOP), self._channel.request(PERSON)
        if self._halted():
            loop = None
        if loop is None and person is None:
            return None
        there = self._states.partitions(self.state.checkpoints)
        wanted = select_request(self.state, there, loop, person, now, self._config)
        if person is not None and wanted is None:
            self._channel.withdraw(PERSON)  # it is so already; else it would hold against the loop
        return wanted

    def _unlike(self) -> list[str]:
        """Return the checkpoints that have to be repartitioned."""
        state = self.state
        return [
            checkpoint
            for checkpoint in state.checkpoints
            for partitions in self._states.partitions([checkpoint])
            if is_unlike(partitions, state.partitions, state.at_least)
        ]

    def _learn(self) -> None:
        """Remember the checkpoints and sinks as soon as the job reports them: the process that only
        commits a planned batch may end before it reports any.
        """
        report = self._channel.report()
        if report is None or report.run != self.state.run or not report.checkpoints:
            return
        known = replace(self.state, checkpoints=report.checkpoints, sinks=report.sinks)
        if known != self.state:
            self.state = known
            self._journal.note(self.state)

    def _counted(self, phase: str, to: str, now: float) -> RestartState:
        """Return the state with the seconds of the phase that ends, and of the total downtime."""
        state, report = self.state, self._channel.report()
        if not state.number or phase == "running" or state.down_s is not None:
            return state
        spent = {**state.spent_s, phase: state.spent_s.get(phase, 0.0) + now - state.since_s}
        drained_s, down_s = state.drained_s, state.down_s
        if phase == "draining":
            mine = report.drained_s if report and report.run == state.run else None
            drained_s = now if mine is None else mine
        if to == "running" and down_s is None and drained_s is not None and report:
            down_s = (report.works_s or now) - drained_s
        return replace(state, spent_s=spent, drained_s=drained_s, down_s=down_s)

    def _enter(self, phase: str, now: float) -> None:
        """Write down where the job stands, before what is ordered on the way: from every phase with
        a process, a supervisor that has none goes on at ``stopped``.
        """
        since_s = self.state.since_s if phase == self.state.phase else now
        self.state = replace(self.state, phase=phase, since_s=since_s)
        self._journal.note(self.state)
        self._on_step(self.state)

    def _orders(self) -> dict[str, Callable[[], None]]:
        return {
            "Start": self._start,
            "Finish": self._finish,
            "Drain": self._drain,
            "Stop": self._stop,
            "Repartition": self._repartition,
        }

    def _start(self) -> None:
        self.state = replace(self.state, run=self.state.run + 1)
        self._job.start(Order(run=self.state.run, executors=self.state.executors))

    def _finish(self) -> None:
        state = self.state
        self.state = replace(state, run=state.run + 1, finishes=state.finishes + 1)
        executors = state.executors_before or state.executors
        self._job.start(Order(run=self.state.run, executors=executors, once=True))

    def _drain(self) -> None:
        order = Order(run=self.state.run, executors=self.state.executors, drain=True)
        self._channel.give(order)

    def _stop(self) -> None:
        self._job.stop()

    def _repartition(self) -> None:
        wanted, sinks = self.state.partitions, self.state.sinks
        for checkpoint in self._unlike():
            sink = sinks.get(checkpoint, "")
            refusal = (
                self._states.repartition(checkpoint, wanted, sink) if wanted is not None else ""
            )
            if refusal:
                self.state = replace(self.state, refusal=refusal)
                return
