"""Owns a job's process and takes it through the table of a restart: looks, takes the step whose
event holds, does what it orders, writes it down.

Nothing is remembered but the story, so a supervisor that was killed is followed by the next one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from rheostat.journal.control_channel import LOOP, PERSON, ControlChannel, Order
from rheostat.restart.request_selection import RestartConfig, is_unlike, select_request
from rheostat.restart.restart_conditions import ALIVE, Facts, events
from rheostat.restart.restart_log import RestartLog
from rheostat.restart.restart_protocol import RESTART
from rheostat.restart.restart_state import RestartState
from rheostat.restart.supervisor_ports import Job, States

LOOK_S = 0.2
"""Between two looks at the job."""

END_GRACE_S = 5.0
"""A script whose queries have been stopped ends by itself within this, or is ended."""

HOPELESS = "a batch is planned that the script did not commit, started for one batch of each query"

FINISH_LIMIT_S = 900.0
"""One batch of each query, start of the application included."""


class Supervisor:
    """One supervised job, from where its ``journal`` says that it stands.

    While it is ``halted`` (the kill switch) only a person's wishes are carried out. ``told`` hears
    of every step.
    """

    def __init__(
        self,
        story: RestartState,
        *,
        mail: ControlChannel,
        journal: RestartLog,
        job: Job,
        states: States,
        terms: RestartConfig,
        halted: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.time,
        told: Callable[[RestartState], None] = lambda _: None,
    ) -> None:
        self.story = story
        self._mail = mail
        self._journal = journal
        self._job = job
        self._states = states
        self._terms = terms
        self._halted = halted
        self._clock = clock
        self._told = told

    def run(self, sleep: Callable[[float], None] = time.sleep) -> int:
        """Go on until the job has ended by itself, and return its exit code; whatever happens, its
        process is ended.
        """
        try:
            while self.story.phase != RESTART.end:
                if not self.step():
                    sleep(LOOK_S)
        finally:
            code = self._job.stop()
        return code

    def step(self) -> bool:
        """Take the step whose event holds; False where none does."""
        now = self._clock()
        if self.story.phase == "running":
            self._learn()
        wanted = self._due(now)
        step = RESTART.after(self.story.phase, events(self._look(now, wanted is not None)))
        if step is None:
            return False
        if step.event == "due" and wanted is not None:
            self.story = wanted
        if step.event == "hopeless":
            self.story = replace(self.story, refusal=HOPELESS)
        self.story = self._counted(step.phase, step.to, now)
        self._enter(step.to, now)
        if step.order:
            before = self.story
            self._orders()[step.order]()
            if self.story != before:
                self._journal.note(self.story)
        return True

    def _look(self, now: float, is_due: bool) -> Facts:
        story, report = self.story, self._mail.report()
        mine = report if report is not None and report.run == story.run else None
        resting = story.phase in ("stopped", "rescaling")
        unlike = self._unlike() if resting else []
        return Facts(
            process=self._job.process(),
            works=mine is not None and mine.works_s is not None,
            drained=mine is not None and mine.drained_s is not None,
            due=is_due,
            unlike=bool(unlike),
            uncommitted=any(map(self._states.uncommitted, unlike)),
            refused=bool(story.refusal),
            finishes=story.finishes,
            phase_s=now - story.since_s,
            limit_s=self._limit_s(story.phase),
        )

    def _limit_s(self, phase: str) -> float:
        limits = {
            "draining": self._terms.drain_limit_s,
            "stopping": END_GRACE_S,
            "finishing": FINISH_LIMIT_S,
        }
        return limits.get(phase, float("inf"))

    def _due(self, now: float) -> RestartState | None:
        if self.story.phase != "running" or self._job.process() != ALIVE:
            return None
        loop, person = self._mail.request(LOOP), self._mail.request(PERSON)
        if self._halted():
            loop = None
        if loop is None and person is None:
            return None
        there = self._states.partitions(self.story.checkpoints)
        wanted = select_request(self.story, there, loop, person, now, self._terms)
        if person is not None and wanted is None:
            self._mail.withdraw(PERSON)  # it is so already; else it would hold against the loop
        return wanted

    def _unlike(self) -> list[str]:
        """Return the checkpoints that are to be rescaled."""
        story = self.story
        return [
            checkpoint
            for checkpoint in story.checkpoints
            for partitions in self._states.partitions([checkpoint])
            if is_unlike(partitions, story.partitions, story.at_least)
        ]

    def _learn(self) -> None:
        """Remember which checkpoints and sinks there are, as soon as the job says so: the process
        that only commits a planned batch may end before it has said any.
        """
        report = self._mail.report()
        if report is None or report.run != self.story.run or not report.checkpoints:
            return
        known = replace(self.story, checkpoints=report.checkpoints, sinks=report.sinks)
        if known != self.story:
            self.story = known
            self._journal.note(self.story)

    def _counted(self, phase: str, to: str, now: float) -> RestartState:
        """Return the story with the seconds of the phase that ends, and of the whole downtime."""
        story, report = self.story, self._mail.report()
        if not story.number or phase == "running" or story.down_s is not None:
            return story
        spent = {**story.spent_s, phase: story.spent_s.get(phase, 0.0) + now - story.since_s}
        drained_s, down_s = story.drained_s, story.down_s
        if phase == "draining":
            mine = report.drained_s if report and report.run == story.run else None
            drained_s = now if mine is None else mine
        if to == "running" and down_s is None and drained_s is not None and report:
            down_s = (report.works_s or now) - drained_s
        return replace(story, spent_s=spent, drained_s=drained_s, down_s=down_s)

    def _enter(self, phase: str, now: float) -> None:
        """Write down where the job stands, before what is ordered on the way: from every phase with
        a process, a supervisor that has none goes on at ``stopped``.
        """
        since_s = self.story.since_s if phase == self.story.phase else now
        self.story = replace(self.story, phase=phase, since_s=since_s)
        self._journal.note(self.story)
        self._told(self.story)

    def _orders(self) -> dict[str, Callable[[], None]]:
        return {
            "Start": self._start,
            "Finish": self._finish,
            "Drain": self._drain,
            "Stop": self._stop,
            "Rescale": self._rescale,
        }

    def _start(self) -> None:
        self.story = replace(self.story, run=self.story.run + 1)
        self._job.start(Order(run=self.story.run, executors=self.story.executors))

    def _finish(self) -> None:
        story = self.story
        self.story = replace(story, run=story.run + 1, finishes=story.finishes + 1)
        executors = story.executors_before or story.executors
        self._job.start(Order(run=self.story.run, executors=executors, once=True))

    def _drain(self) -> None:
        order = Order(run=self.story.run, executors=self.story.executors, drain=True)
        self._mail.give(order)

    def _stop(self) -> None:
        self._job.stop()

    def _rescale(self) -> None:
        wanted, sinks = self.story.partitions, self.story.sinks
        for each in self._unlike():
            sink = sinks.get(each, "")
            refusal = self._states.rescale(each, wanted, sink) if wanted is not None else ""
            if refusal:
                self.story = replace(self.story, refusal=refusal)
                return
