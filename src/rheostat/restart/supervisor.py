"""The process backend of the restart protocol: selects the next request, observes the job's
process, takes the row of the table whose event holds, records it, and carries out
its order.

Only the recorded state is needed to continue, so a new supervisor can replace a killed one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from rheostat.config import RestartOptions
from rheostat.guards.periods import in_force, periods_of
from rheostat.journal.control_channel import (
    LOOP,
    PERSON,
    VARIABLE,
    ControlChannel,
    Order,
    RestartRequest,
)
from rheostat.protocols.restart import RESTART, RestartFacts, RestartOrder, due, hopeless
from rheostat.restart.checkpoint_states import CheckpointStates
from rheostat.restart.restart_state import RestartLog, RestartState
from rheostat.storage.lease import process_start

LOOK_S = 0.2
"""The seconds between two observations of the job."""

STOP_GRACE_S = 40.0
"""The seconds within which the local cluster and its driver must end; then they are killed."""

_POLL_S = 0.1

END_GRACE_S = 5.0
"""The seconds within which a script must end after its queries have stopped; then it is stopped."""

HOPELESS = "the script was started for one batch of each query and did not commit its planned batch"

FINISH_LIMIT_S = 900.0
"""The time limit in seconds for one batch of each query, including the application's start."""


def select_request(
    state: RestartState,
    partitions: Sequence[int],
    loop: RestartRequest | None,
    person: RestartRequest | None,
    now: float,
    options: RestartOptions,
) -> RestartState | None:
    """Return the state with the restart to carry out now; None without one.

    ``partitions`` are the state partitions of each checkpoint that has state. A person's request is
    carried out at once; the loop's request waits for the pause, and its state partitions for the
    window. The loop's request raises the partitions of a query that has too few and never lowers
    them.
    """
    if person is not None and person.t_s > state.requested_s:
        return _applied(state, partitions, person, at_least=False)
    if loop is None or loop.run != state.run or now - state.since_s < options.restart_pause_s:
        return None
    window = periods_of(options.maintenance_window)
    if not (options.allow_repartition and in_force(window, now)):
        loop = replace(loop, partitions=None)
    if loop.partitions == state.partitions and state.refusal:
        loop = replace(loop, partitions=None)  # it was refused before
    return _applied(state, partitions, loop, at_least=True)


def differs(partitions: int, requested: int | None, at_least: bool) -> bool:
    """Return whether a checkpoint with this number of state partitions must be repartitioned."""
    if requested is None:
        return False
    return partitions < requested if at_least else partitions != requested


def _applied(
    state: RestartState, partitions: Sequence[int], request: RestartRequest, *, at_least: bool
) -> RestartState | None:
    executors = request.executors or state.executors
    requested = request.partitions if partitions else None
    differing = [partition for partition in partitions if differs(partition, requested, at_least)]
    if executors == state.executors and not differing:
        return None
    return replace(
        state,
        number=state.restarts + 1,
        restarts=state.restarts + 1,
        executors=executors,
        executors_before=state.executors,
        partitions=requested,
        partitions_before=next(iter([*differing, *partitions]), None),
        at_least=at_least,
        reason=request.reason,
        requested_s=request.t_s,
        drained_s=None,
        down_s=None,
        spent_s={},
        refusal="",
        finishes=0,
    )


class ProcessJob:
    """Runs ``rheostat`` with ``arguments`` in a child process, which keeps its standard output.

    The child ends by itself after the end of this process (``machine/orderly_end.py``).
    """

    def __init__(self, arguments: Sequence[str], channel: ControlChannel) -> None:
        self._command = [sys.executable, "-m", "rheostat.cli", *arguments]
        self._channel = channel
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, order: Order) -> None:
        """Start the process with an order, after the end of one left by an earlier supervisor."""
        self._end_orphaned_process()
        self._channel.write_order(order)
        environment = {**os.environ, VARIABLE: str(self._channel.folder)}
        self._process = subprocess.Popen(self._command, env=environment)

    def process(self) -> Literal["none", "alive", "ended"]:
        """Return whether this supervisor has started the process, and whether it runs."""
        if self._process is None:
            return "none"
        return "alive" if self._process.poll() is None else "ended"

    def stop(self) -> int:
        """End the process if it runs, and return its exit code; 0 if none was started."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_GRACE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        code = self._process.wait()
        return code if code >= 0 else 128 - code

    def _end_orphaned_process(self) -> None:
        """Wait for the process of a killed supervisor, which ends with its cluster within a second
        or two; kill it after the grace period.
        """
        report = self._channel.report()
        deadline = time.monotonic() + STOP_GRACE_S
        while report and process_start(report.pid) == report.began:
            if time.monotonic() > deadline:
                with suppress(ProcessLookupError):
                    os.kill(report.pid, signal.SIGKILL)
            time.sleep(_POLL_S)


@dataclass(eq=False, kw_only=True)
class Supervisor:
    """Runs one supervised job from ``state``, which it records in ``journal``.

    While ``halted`` (the kill switch), only a person's requests are carried out. ``on_step`` is
    called with every new state.
    """

    state: RestartState
    channel: ControlChannel
    journal: RestartLog
    job: ProcessJob
    states: CheckpointStates
    options: RestartOptions
    halted: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.time
    on_step: Callable[[RestartState], None] = lambda _: None

    def run(self, sleep: Callable[[float], None] = time.sleep) -> int:
        """Run until the job ends by itself, return its exit code, and always end its process."""
        try:
            while self.state.phase != RESTART.end:
                if not self.step():
                    sleep(LOOK_S)
        finally:
            code = self.job.stop()
        return code

    def step(self) -> bool:
        """Take the row whose event holds; return False without one."""
        now = self.clock()
        if self.state.phase == "running":
            self._record_checkpoints()
        requested = self._requested(now)
        row = RESTART.step(self.state.phase, self._facts(now, requested is not None))
        if row is None:
            return False
        if row.event == due and requested is not None:
            self.state = requested
        if row.event == hopeless:
            self.state = replace(self.state, refusal=HOPELESS)
        self.state = self._counted(row.phase, row.to, now)
        self._enter(row.to, now)
        if row.order:
            before = self.state
            self._carry_out(row.order)
            if self.state != before:
                self.journal.append(self.state)
        return True

    def _facts(self, now: float, is_due: bool) -> RestartFacts:
        state, report = self.state, self.channel.report()
        mine = report if report is not None and report.run == state.run else None
        is_stopped = state.phase in ("stopped", "repartitioning")
        differing = self._differing() if is_stopped else []
        return RestartFacts(
            process=self.job.process(),
            works=mine is not None and mine.works_s is not None,
            drained=mine is not None and mine.drained_s is not None,
            due=is_due,
            differs=bool(differing),
            uncommitted=any(map(self.states.uncommitted, differing)),
            refused=bool(state.refusal),
            finishes=state.finishes,
            phase_s=now - state.since_s,
            limit_s=self._limit_s(state.phase),
        )

    def _limit_s(self, phase: str) -> float:
        limits = {
            "draining": self.options.drain_limit_s,
            "stopping": END_GRACE_S,
            "finishing": FINISH_LIMIT_S,
        }
        return limits.get(phase, float("inf"))

    def _requested(self, now: float) -> RestartState | None:
        """Return the state with the restart to carry out now; None without one."""
        if self.state.phase != "running" or self.job.process() != "alive":
            return None
        loop, person = self.channel.request(LOOP), self.channel.request(PERSON)
        if self.halted():
            loop = None
        if loop is None and person is None:
            return None
        partitions = self.states.partitions(self.state.checkpoints)
        requested = select_request(self.state, partitions, loop, person, now, self.options)
        if person is not None and requested is None:
            # An already fulfilled request would take precedence over the loop later.
            self.channel.remove_request(PERSON)
        return requested

    def _differing(self) -> list[str]:
        """Return the checkpoints that must be repartitioned."""
        state = self.state
        return [
            checkpoint
            for checkpoint in state.checkpoints
            for partitions in self.states.partitions([checkpoint])
            if differs(partitions, state.partitions, state.at_least)
        ]

    def _record_checkpoints(self) -> None:
        """Record the checkpoints and sinks as soon as the job reports them: the process that only
        commits a planned batch may end before it reports any.
        """
        report = self.channel.report()
        if report is None or report.run != self.state.run or not report.checkpoints:
            return
        known = replace(self.state, checkpoints=report.checkpoints, sinks=report.sinks)
        if known != self.state:
            self.state = known
            self.journal.append(self.state)

    def _counted(self, phase: str, to: str, now: float) -> RestartState:
        """Return the state with the seconds of the phase that ends, and of the total downtime."""
        state, report = self.state, self.channel.report()
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
        """Record the phase before its order is carried out: a supervisor without a process
        continues from any phase with one at ``stopped``.
        """
        since_s = self.state.since_s if phase == self.state.phase else now
        self.state = replace(self.state, phase=phase, since_s=since_s)
        self.journal.append(self.state)
        self.on_step(self.state)

    def _carry_out(self, order: RestartOrder) -> None:
        state = self.state
        match order:
            case RestartOrder.START:
                self.state = replace(state, run=state.run + 1)
                self.job.start(Order(run=self.state.run, executors=state.executors))
            case RestartOrder.FINISH:
                self.state = replace(state, run=state.run + 1, finishes=state.finishes + 1)
                executors = state.executors_before or state.executors
                self.job.start(Order(run=self.state.run, executors=executors, once=True))
            case RestartOrder.DRAIN:
                self.channel.write_order(
                    Order(run=state.run, executors=state.executors, drain=True)
                )
            case RestartOrder.STOP:
                self.job.stop()
            case RestartOrder.REPARTITION:
                self._repartition()

    def _repartition(self) -> None:
        state = self.state
        if state.partitions is None:
            return
        for checkpoint in self._differing():
            sink = state.sinks.get(checkpoint, "")
            refusal = self.states.repartition(checkpoint, state.partitions, sink)
            if refusal:
                self.state = replace(state, refusal=refusal)
                return
