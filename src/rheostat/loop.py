"""The control loop: observe, decide, guard, rescale, record; the order is defined only here."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone

from rheostat.guards import Guard, guard
from rheostat.model import Decision, Memory, Observation, Record, Rescaling
from rheostat.ports import Actuator, Journal, Policy, Sensor
from rheostat.protocols.release import Release
from rheostat.signals.application import combine
from rheostat.state.proposed_count import Command, with_partitions

_log = logging.getLogger("rheostat")


class Loop:
    """Runs one policy on one application. ``step(now)`` is one tick, and it is the same in a live
    job, a simulation and a test.

    With ``command``, which builds the command to repartition a query, decisions propose more state
    partitions where their number limits a query. With ``release`` set, the application has
    no executors between two runs.
    """

    def __init__(
        self,
        *,
        sensor: Sensor,
        policy: Policy,
        guards: tuple[Guard, ...],
        actuator: Actuator,
        journal: Journal,
        command: Command | None = None,
    ) -> None:
        self.release: Release | None = None
        self._released: Memory = {}
        """What ``release`` remembers; another application begins without it."""
        self._sensor = sensor
        self._policy = policy
        self._guards = guards
        self._start: tuple[Guard, ...] = ()
        self._actuator = actuator
        self._journal = journal
        self._command = command
        self._memory: Memory = journal.restore()
        # Another thread replaces this tuple as one value, so a tick never mixes an old policy with
        # new guards.
        self._directed: tuple[Policy, tuple[Guard, ...]] = (policy, guards)
        self.paused = ""
        """Cause of a halt that another thread requested, besides the journal's; empty if none."""

    def halted(self) -> str:
        """Return why decisions are halted; empty if they are not."""
        return self.paused or self._journal.halted()

    def direct(self, policy: Policy, guards: tuple[Guard, ...]) -> None:
        """Use these from the next tick on; a different policy starts with an empty memory."""
        self._directed = (policy, guards)

    def start(self, now: float, tick: Callable[[], None]) -> None:
        """Resume the actuator from the journaled memory and start it; its thread calls ``tick``."""
        self._actuator.resume(self._memory.get("rescaling", {}), now)
        self._actuator.start(tick)

    def close(self) -> None:
        """Close the sensor and stop the actuator; the application keeps its size."""
        self._wake(time.time())
        try:
            self._sensor.close()
        finally:
            self._actuator.close()

    def request(self, decision: Decision, now: float) -> None:
        """Request the initial size, unless halted."""
        if not self.halted():
            self._actuator.begin(decision, now)

    def begin(self, start: Guard, now: float, detail: str = "") -> None:
        """Apply the guard of the application's start before all other guards from now on, also
        after ``direct``; record the initial size and its reason if ``detail`` is given.
        """
        self._start = (start,)
        if detail:
            self._keep(_nothing(now, "starting", detail))

    def step(self, now: float) -> Record:
        """Run one tick and return its record; while halted, observe only."""
        # The halt is checked first, so that it also works if observing fails.
        if cause := self.halted():
            return self._keep(self._halt(cause, now))
        since_s = self._memory.get("halted_s")
        self._memory = {name: kept for name, kept in self._memory.items() if name != "halted_s"}
        record = self._decide(now)
        if since_s is not None:
            detail = "; ".join(
                filter(None, (f"resumed, {_since(since_s)}", record.rescaling.detail))
            )
            record = replace(record, rescaling=replace(record.rescaling, detail=detail))
        return self._keep(record)

    def _halt(self, cause: str, now: float) -> Record:
        """Hold the actuator and return a record of the observation, if there is one."""
        self._memory = {"halted_s": now, **self._memory}
        self._wake(now)
        self._actuator.hold()
        queries: tuple[Observation, ...] = ()
        with suppress(Exception):  # a failing sensor must not hide the halt
            queries = self._observe(now)
        detail = f"{_since(self._memory['halted_s'])} ({cause}); the query keeps running"
        return _nothing(now, "halted", detail, combine(queries), queries)

    def _decide(self, now: float) -> Record:
        # Read once per tick, so that one policy decides the complete tick.
        self._take_direction()
        queries = self._observe(now)
        observation = combine(queries)
        if reason := self._between_runs(now):
            return _nothing(now, "idle", reason, observation, queries)
        if observation is None:
            return _nothing(now, "idle", "no query is running")
        # A target cannot be compared with an unknown size, nor with 0 executors.
        if not observation.size:
            unknown = "the number of executors is not known yet"
            return _nothing(now, "idle", unknown, observation, queries)
        raw, policy_memory = self._policy.decide(observation, self._memory.get("policy", {}))
        guards = (*self._start, *self._guards)
        guarded = guard(guards, raw, observation, self._memory.get("guards", {}), now)
        # Stored before the actuator runs, so that the decision is remembered even if the actuator
        # fails.
        self._memory = {**self._memory, "policy": policy_memory, "guards": guarded.memory}
        decision = guarded.decision
        if self._command:
            decision = with_partitions(raw, decision, observation, self._command)
        rescaling = self._actuator.rescale(decision, now)
        self._memory = {**self._memory, "rescaling": rescaling.memory}
        return Record(
            t_s=now,
            observation=observation,
            queries=_several(queries),
            raw=raw,
            guards=guarded.changes,
            target=decision.target,
            actions=tuple(map(str, decision.actions)),
            # The journal stores the memory once, next to the record.
            rescaling=replace(rescaling, memory={}),
        )

    def _between_runs(self, now: float) -> str:
        """Request the size between two runs, and return its reason; empty if the policy decides."""
        if self.release is None:
            return ""
        executors, size = self._actuator.sizes(now) or (None, None)
        decision, self._released = self.release.decide(executors, size, self._released, now)
        if decision is None:
            return ""
        rescaling = self._actuator.rescale(decision, now)
        self._memory = {**self._memory, "rescaling": rescaling.memory}
        return decision.reason

    def _wake(self, now: float) -> None:
        """Request executors again: while decisions are halted, nothing would do so for a run."""
        executors = self._released.get("awake")
        if not executors:
            return
        with suppress(Exception):  # the application may have ended
            _, size = self._actuator.sizes(now) or (None, None)
            if size == 0:
                self._actuator.rescale(Decision(target=executors, reason="decisions end"), now)
            self._released = {}

    def _observe(self, now: float) -> tuple[Observation, ...]:
        """Return the sensor's observations, with the actuator's size if it reports one."""
        sizes = self._actuator.sizes(now)
        queries = tuple(self._sensor.observe(now))
        if sizes is None:
            return queries
        executors, target = sizes
        return tuple(replace(query, executors=executors, target=target) for query in queries)

    def _take_direction(self) -> None:
        policy, self._guards = self._directed
        # The memory belongs to its policy. Guards keep theirs, because a cooldown outlives a
        # policy.
        if policy != self._policy:
            self._policy, self._memory = policy, {**self._memory, "policy": {}}

    def run(
        self,
        interval_s: float,
        stop: threading.Event,
        on_record: Callable[[Record], None] | None = None,
    ) -> None:
        """Step every ``interval_s`` seconds until ``stop`` is set.

        An error never reaches the job: it is logged once per kind and recorded (phase ``failed``),
        the job keeps its size, and the next tick tries again.
        """
        faults = FaultLog("a decision failed; the job keeps its size")
        while not stop.is_set():
            try:
                record = self.step(time.time())
            except Exception as fault:
                if stop.is_set():  # not a fault: the application has ended
                    return
                record = self._failed(fault, faults)
            try:
                if on_record:
                    on_record(record)
            except Exception as fault:
                faults.warn(fault)
            # Also wait after an error, so that a failing sensor is not polled in a busy loop.
            stop.wait(interval_s)

    def _failed(self, fault: Exception, faults: FaultLog) -> Record:
        """Log the error, and record it if possible."""
        kind = faults.warn(fault)
        # The observation of this tick may be what failed.
        record = _nothing(time.time(), "failed", f"{kind}; the size stays")
        try:
            return self._keep(record)
        except Exception as unwritten:
            faults.warn(unwritten)
            return record

    def _keep(self, record: Record) -> Record:
        self._journal.append(record, self._memory)
        return record


def _nothing(
    now: float,
    phase: str,
    detail: str,
    observation: Observation | None = None,
    queries: tuple[Observation, ...] = (),
) -> Record:
    """Return the record of a tick without a decision."""
    return Record(
        t_s=now,
        observation=observation,
        queries=_several(queries),
        raw=None,
        guards=(),
        target=None,
        actions=(),
        rescaling=Rescaling(phase=phase, detail=detail),
    )


def _since(halted_s: float) -> str:
    return f"halted since {datetime.fromtimestamp(halted_s, timezone.utc):%Y-%m-%d %H:%M} UTC"


def _several(queries: tuple[Observation, ...]) -> tuple[Observation, ...]:
    """Return the observations of the queries if the application's differs from them."""
    return queries if len(queries) > 1 or any(q.objective_share for q in queries) else ()


class FaultLog:
    """Warns of each kind of fault once, after its ``context``; the traceback is at level DEBUG."""

    def __init__(self, context: str) -> None:
        self._context = context
        self._logged: set[str] = set()

    def warn(self, fault: Exception) -> str:
        """Warn of a fault of a new kind, and return its kind: its type and its text."""
        kind = f"{type(fault).__name__}: {fault}"
        if kind not in self._logged:
            self._logged.add(kind)
            _log.warning("rheostat: %s: %s", self._context, kind)
            _log.debug("rheostat: where it failed", exc_info=fault)
        return kind
