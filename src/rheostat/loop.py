"""The loop: observe -> decide -> guard -> rescale -> record; the only place that knows this
order.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone

from rheostat.fault_log import FaultLog
from rheostat.guards import Guard, guard
from rheostat.model import Decision, Memory, Observation, Record, Rescaling
from rheostat.ports import Actuator, Journal, Policy, Sensor
from rheostat.signals.application import combine
from rheostat.state.proposed_count import Command, with_partitions


class Loop:
    """Runs one policy on one application; ``step(now)`` is one tick and the same for a live job, a
    simulation and a test.

    ``command`` returns what repartitions the state of a query; with it, a decision names a query
    that lacks state partitions.
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
        self._sensor = sensor
        self._policy = policy
        self._guards = guards
        self._start: tuple[Guard, ...] = ()
        self._actuator = actuator
        self._journal = journal
        self._command = command
        self._memory: Memory = journal.restore()
        # Set from another thread: one tuple, so that a tick never mixes an old policy and new
        # guards.
        self._directed: tuple[Policy, tuple[Guard, ...]] = (policy, guards)
        self.paused = ""
        """Why it is halted whatever the journal says; empty: it is not. Set from another thread."""

    def halted(self) -> str:
        """Return what halts the decisions, in words; empty where nothing does."""
        return self.paused or self._journal.halted()

    def direct(self, policy: Policy, guards: tuple[Guard, ...]) -> None:
        """Decide by this policy and these guards from the next tick on; another policy begins
        without the memory of the last one.
        """
        self._directed = (policy, guards)

    def start(self, now: float, tick: Callable[[], None]) -> None:
        """Let the actuator continue where the journal has left it; ``tick`` is for its thread."""
        self._actuator.resume(self._memory.get("rescaling", {}), now)
        self._actuator.start(tick)

    def close(self) -> None:
        """Close the sensor, and stop the actuator; the application stays as it is."""
        try:
            self._sensor.close()
        finally:
            self._actuator.close()

    def request(self, decision: Decision, now: float) -> None:
        """Request the initial size, unless halted."""
        if not self.halted():
            self._actuator.begin(decision, now)

    def begin(self, start: Guard, now: float, detail: str = "") -> None:
        """Let the guard of the application's start come first from now on, whatever policy and
        guards there will be, and record what the initial size is and why.
        """
        self._start = (start,)
        if detail:
            self._keep(_nothing(now, "starting", detail))

    def step(self, now: float) -> Record:
        """Do one tick and return its record; while halted nothing is decided and nothing is
        changed.
        """
        # Checked first, so that the kill switch works even if observing fails.
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
        """Hold the actuator and return a record of what is observed."""
        self._memory = {"halted_s": now, **self._memory}
        self._actuator.hold()
        queries: tuple[Observation, ...] = ()
        with suppress(Exception):  # a broken sensor must not hide that it is halted
            queries = self._observe(now)
        detail = f"{_since(self._memory['halted_s'])} ({cause}); the query keeps running"
        return _nothing(now, "halted", detail, combine(queries), queries)

    def _decide(self, now: float) -> Record:
        # Once at the start of a tick, so that a whole tick is decided by one policy.
        self._take_direction()
        queries = self._observe(now)
        observation = combine(queries)
        if observation is None:
            return _nothing(now, "idle", "no query is running")
        # Without a size there is nothing to compare a target with; 0 executors are no size either.
        if not observation.size:
            unknown = "the number of executors is not known yet"
            return _nothing(now, "idle", unknown, observation, queries)
        raw, policy_memory = self._policy.decide(observation, self._memory.get("policy", {}))
        guards = (*self._start, *self._guards)
        guarded = guard(guards, raw, observation, self._memory.get("guards", {}), now)
        # Kept before the actuator is asked: if that fails, the decision is still remembered.
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
            # The memory is journalled beside the record, once, and not inside it again.
            rescaling=replace(rescaling, memory={}),
        )

    def _observe(self, now: float) -> tuple[Observation, ...]:
        """Return what the sensor observes, with the size that the actuator counts."""
        sizes = self._actuator.sizes(now)
        queries = tuple(self._sensor.observe(now))
        if sizes is None:
            return queries
        executors, target = sizes
        return tuple(replace(query, executors=executors, target=target) for query in queries)

    def _take_direction(self) -> None:
        policy, self._guards = self._directed
        # Memory is in the terms of its policy; guards keep theirs, because cooldowns outlive
        # policies.
        if policy != self._policy:
            self._policy, self._memory = policy, {**self._memory, "policy": {}}

    def run(
        self,
        interval_s: float,
        stop: threading.Event,
        on_record: Callable[[Record], None] | None = None,
    ) -> None:
        """Step every ``interval_s`` seconds until ``stop`` is set.

        A fault of ours never reaches the job: it is logged, once per kind, and recorded (phase
        ``failed``), the size stays, and the next tick tries again.
        """
        faults = FaultLog("a decision failed; the job keeps its size")
        while not stop.is_set():
            try:
                record = self.step(time.time())
            except Exception as fault:
                if stop.is_set():  # the application ended meanwhile: that is no fault
                    return
                record = self._failed(fault, faults)
            try:
                if on_record:
                    on_record(record)
            except Exception as fault:
                faults.say(fault)
            # Waits after a fault, too: a broken sensor must not be polled in a busy loop.
            stop.wait(interval_s)

    def _failed(self, fault: Exception, faults: FaultLog) -> Record:
        """Log what failed, and record it if possible."""
        kind = faults.say(fault)
        # No observation: the one of this tick may be what has failed.
        record = _nothing(time.time(), "failed", f"{kind}; the size stays")
        try:
            return self._keep(record)
        except Exception as unwritten:
            faults.say(unwritten)
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
    """Return the record of a tick at which nothing was decided."""
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
    """Return the observations one by one where the application runs several queries."""
    return queries if len(queries) > 1 else ()
