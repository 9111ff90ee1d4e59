"""The loop: observe -> decide -> guard -> rescale -> record; the only place that knows this
order.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from rheostat.guards import Guard, Guarded, guard
from rheostat.model import Decision, Memory, Observation, Record, Rescaling
from rheostat.ports import Actuator, Journal, Policy, Sensor
from rheostat.signals.application import combine

_log = logging.getLogger("rheostat")


class Loop:
    """Runs one policy on one application; ``step(now)`` is one tick and the same for a live job, a
    simulation and a test.
    """

    def __init__(
        self,
        *,
        sensor: Sensor,
        policy: Policy,
        guards: tuple[Guard, ...],
        actuator: Actuator,
        journal: Journal,
    ) -> None:
        self._sensor = sensor
        self._policy = policy
        self._guards = guards
        self._actuator = actuator
        self._journal = journal
        self._memory: Memory = journal.restore()
        self.halted = False

    def step(self, now: float) -> Record:
        """Do one tick and return its record; after the kill switch nothing is decided and nothing
        is changed.
        """
        if self._journal.halted():
            self.halted = True
            return self._record(
                now,
                None,
                (),
                None,
                None,
                Rescaling(phase="halted", detail="the kill switch was pulled; the size stays"),
            )
        queries = tuple(self._sensor.observe(now))
        observation = combine(queries)
        if observation is None or not observation.size:
            idle = (
                "no query is running"
                if observation is None
                else "the number of executors is unknown"
            )
            return self._record(
                now, observation, queries, None, None, Rescaling(phase="idle", detail=idle)
            )
        raw, policy_memory = self._policy.decide(observation, self._memory.get("policy", {}))
        guarded = guard(self._guards, raw, observation, self._memory.get("guards", {}), now)
        self._memory = {**self._memory, "policy": policy_memory, "guards": guarded.memory}
        rescaling = self._actuator.rescale(guarded.decision, now)
        self._memory = {**self._memory, "rescaling": rescaling.memory}
        return self._record(now, observation, queries, raw, guarded, replace(rescaling, memory={}))

    def run(
        self, interval_s: float, stop: threading.Event, seen: Callable[[Record], None] | None = None
    ) -> None:
        """Step every ``interval_s`` seconds until ``stop`` is set or the kill switch is pulled.

        A fault of ours never reaches the job: it is logged, once per kind, the size stays, and the
        next tick tries again.
        """
        said: set[str] = set()
        while not stop.is_set() and not self.halted:
            try:
                record = self.step(time.time())
                if seen:
                    seen(record)
            except Exception as fault:
                kind = f"{type(fault).__name__}: {fault}"
                if kind not in said:
                    said.add(kind)
                    _log.warning(
                        "rheostat: a decision failed, the job goes on at its size: %s", kind
                    )
                    _log.debug("rheostat: where it failed", exc_info=True)
            stop.wait(interval_s)

    def _record(
        self,
        now: float,
        observation: Observation | None,
        queries: tuple[Observation, ...],
        raw: Decision | None,
        guarded: Guarded | None,
        rescaling: Rescaling,
    ) -> Record:
        decision = guarded.decision if guarded else None
        record = Record(
            t_s=now,
            observation=observation,
            queries=queries if len(queries) > 1 else (),
            raw=raw,
            guards=guarded.changes if guarded else (),
            target=decision.target if decision else None,
            actions=decision.actions if decision else (),
            rescaling=rescaling,
        )
        self._journal.append(record, self._memory)
        return record
