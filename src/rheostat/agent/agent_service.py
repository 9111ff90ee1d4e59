"""Where an application's autoscaler is asked and told: what the HTTP routes do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from rheostat.agent.agent_report import Report
from rheostat.agent.external_size_policy import WITHIN_S, ExternalSizePolicy, FlapGuard, Held
from rheostat.agent.gauges import Gauges
from rheostat.agent.sizing import Sizing
from rheostat.errors import BadInput
from rheostat.guards import Cooldown, Guard, StaleData
from rheostat.model import Capabilities, Memory, Record
from rheostat.ports import Policy


class Sized(Protocol):
    """The autoscaler of an application."""

    capabilities: Capabilities

    def direct(self, policy: Policy, guards: tuple[Guard, ...]) -> None:
        """Decide by these from now on."""
        ...

    @property
    def halted(self) -> str:
        """What halts the decisions, in words; empty where nothing does."""
        ...

    def halt(self) -> None:
        """Decide nothing until ``resume``, also after a new start."""
        ...

    def resume(self) -> None:
        """Take ``halt`` back."""
        ...

    def pause(self, cause: str) -> None:
        """Decide nothing for a cause that this process keeps; an empty one takes that back."""
        ...


class Refused(BadInput):
    """What was asked for is understood, and this application does not do it now (HTTP 409)."""


class AgentService:
    """Takes what is asked of an application's autoscaler, from any thread, and tells its state.

    ``made_of`` makes the policy and the guards of a sizing, those with which the driver was started
    where it says nothing; raises BadInput where it cannot. ``drain`` ends the queries of the
    application after the batches that run.
    """

    def __init__(
        self,
        sized: Sized,
        made_of: Callable[[Sizing], tuple[Policy, tuple[Guard, ...]]],
        drain: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sized = sized
        self._made_of = made_of
        self._drain = drain
        self._clock = clock
        self._lock = threading.RLock()
        self._sizing = Sizing()
        self._record: Record | None = None
        self._recorded_s: float | None = None
        self._metrics: dict[str, float] = {}
        self._windows: Memory = {}
        self._contest: tuple[float, str] | None = None
        self._draining = self._drained = False

    def see(self, record: Record) -> None:
        """Take a tick of the loop."""
        with self._lock:
            self._record, self._recorded_s = record, self._clock()
            held = next((guard for guard in record.guards if guard.guard == FlapGuard().name), None)
            if held:
                self._contest = (self._recorded_s, held.reason)
            if record.observation is None:
                self._metrics = {}
            else:
                gauges = Gauges(self._sizing.metrics)
                self._metrics, self._windows = gauges.of(record.observation, self._windows)

    def resize(self, size: object) -> Report:
        """Ask for so many executors; raises BadInput for what is no size, Refused where the size is
        not decided from outside.
        """
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise BadInput(
                f"executors must be a whole number of executors from 1 on, but it is {size!r}"
            )
        with self._lock:
            if cause := self._sized.halted:
                raise Refused(f"the autoscaler is halted ({cause}): PUT /resume first")
            if self._sizing.mode != "external":
                raise Refused(f"the mode is {self._sizing.mode}: the size is not set from outside")
            return self.direct(replace(self._sizing, size=size))

    def direct(self, sizing: Sizing) -> Report:
        """Size like this from now on, or once it is resumed; the same again does nothing. Raises
        BadInput for a policy or a guard that cannot be made.
        """
        with self._lock:
            if sizing != self._sizing:
                self._sized.direct(*self._parts(sizing))
                self._sized.pause("paused by the control API" if sizing.paused else "")
                self._sizing = sizing
            return self.report()

    def _parts(self, sizing: Sizing) -> tuple[Policy, tuple[Guard, ...]]:
        policy, guards = self._made_of(sizing)
        if sizing.mode == "external":
            # A size from outside is not older than its data, and who asks has a pace of his own.
            kept = tuple(rule for rule in guards if not isinstance(rule, Cooldown | StaleData))
            # Before all others: the bounds come last, whatever is held.
            return ExternalSizePolicy(sizing.size), (FlapGuard(), *kept)
        return policy, ((*guards, Held()) if sizing.mode == "shadow" else guards)

    def halt(self) -> Report:
        """Halt the decisions; the application keeps its size."""
        self._sized.halt()
        return replace(self.report(), halted=True)

    def resume(self) -> Report:
        """Resume the decisions; the report says what still halts them, if anything does."""
        self._sized.resume()
        cause = self._sized.halted
        return replace(self.report(), halted=bool(cause), detail=cause and f"halted ({cause})")

    def drain(self) -> Report:
        """End the queries after the batches that run; a second time does nothing."""
        with self._lock:
            if not self._draining:
                self._draining = True
                thread = threading.Thread(target=self._end, name="rheostat-drain", daemon=True)
                thread.start()
            return self.report()

    def _end(self) -> None:
        self._drain()
        self._drained = True

    def report(self) -> Report:
        """Return the state at this moment."""
        with self._lock:
            record, able = self._record, self._sized.capabilities
            report = Report(
                sizing=self._sizing,
                can_scale=able.can_scale,
                cannot=able.cannot,
                draining=self._draining,
                drained=self._drained,
            )
            if record is None:
                return report
            observation = record.observation
            return replace(
                report,
                application=observation.application if observation else None,
                executors=observation.executors if observation else None,
                target=record.target
                if record.target is not None
                else (observation.size if observation else None),
                phase=record.rescaling.phase,
                detail=record.rescaling.detail,
                reason=record.raw.reason if record.raw else "",
                contested=self._contested(),
                halted=record.rescaling.phase == "halted",
                age_s=None if self._recorded_s is None else self._clock() - self._recorded_s,
                metrics=dict(self._metrics),
            )

    def _contested(self) -> str:
        """Return why a size was held against a second writer, for a while: each of the two is the
        one that is asked for at some moments, and the reason should not come and go with them.
        """
        at_s, reason = self._contest or (float("-inf"), "")
        return reason if self._clock() - at_s < WITHIN_S else ""
