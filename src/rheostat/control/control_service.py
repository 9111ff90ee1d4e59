"""The control API of an application's autoscaler, independent of HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from rheostat.control.driver_report import Report
from rheostat.control.external_size_policy import WITHIN_S, ExternalSizePolicy, FlapGuard, Held
from rheostat.control.sizing import Sizing, sizing_of, to_json
from rheostat.errors import BadInput
from rheostat.guards import Cooldown, Guard, Reversal, StaleData
from rheostat.metrics.prometheus import MetricsRegistry
from rheostat.model import Capabilities, Observation, Record
from rheostat.ports import Policy

_LONGEST_PIN_MIN = 1440


class Sized(Protocol):
    """The autoscaler of an application."""

    capabilities: Capabilities

    def direct(self, policy: Policy, guards: tuple[Guard, ...]) -> None:
        """Use this policy and these guards from now on."""

    @property
    def halted(self) -> str:
        """Why decisions are halted; empty if they are not."""

    def halt(self) -> None:
        """Halt the decisions until ``resume``, also after a restart."""

    def resume(self) -> None:
        """Resume the decisions after ``halt``."""

    def pause(self, cause: str) -> None:
        """Pause the decisions for a cause that only this process stores; "" resumes them."""


class Refused(BadInput):
    """The request is valid, but the application does not accept it now (HTTP 409)."""


class ControlService:
    """Controls the autoscaler of an application and reports its state, from any thread.

    ``sizing_parts`` returns the policy and the guards of a sizing and raises BadInput for an
    invalid one; settings that the sizing omits keep the values with which the driver was started.
    ``drain`` ends the queries of the application after their current batches.
    """

    def __init__(
        self,
        sized: Sized,
        sizing_parts: Callable[[Sizing], tuple[Policy, tuple[Guard, ...]]],
        drain: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        metrics: MetricsRegistry | None = None,
    ) -> None:
        self.metrics = metrics or MetricsRegistry()
        self._sized = sized
        self._sizing_parts = sizing_parts
        self._drain = drain
        self._clock = clock
        self._lock = threading.RLock()
        self._sizing = Sizing()
        self._record: Record | None = None
        self._recorded_s: float | None = None
        self._contest: tuple[float, str] | None = None
        self._draining = self._drained = False
        self._pinned: tuple[float, Sizing] | None = None

    def see(self, record: Record) -> None:
        """Record a tick of the loop, and end an expired pin."""
        with self._lock:
            self._record, self._recorded_s = record, self._clock()
            held = next((guard for guard in record.guards if guard.guard == FlapGuard().name), None)
            if held:
                self._contest = (self._recorded_s, held.reason)
            self.metrics.add(record)
            if self._pinned and self._clock() >= self._pinned[0]:
                self.direct(self._pinned[1])

    def resize(self, size: object) -> Report:
        """Request a size; raises BadInput if invalid, Refused unless the mode is ``external``."""
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise BadInput(f"executors must be a whole number of at least 1, but it is {size!r}")
        with self._lock:
            cause = self._sized.halted
            if cause:
                raise Refused(f"the autoscaler is halted ({cause}); send PUT /resume first")
            if self._sizing.mode != "external":
                raise Refused(
                    f"the mode is {self._sizing.mode}; a size is accepted in mode external"
                )
            return self.direct(replace(self._sizing, size=size))

    def pin(self, size: object, minutes: object) -> Report:
        """Keep a number of executors for some minutes, then decide as before. Raises BadInput for
        invalid values, and Refused in the mode ``external``.
        """
        valid = isinstance(minutes, int | float) and 0 < minutes <= _LONGEST_PIN_MIN
        if not valid or not isinstance(size, int | float) or size != int(size) or size < 1:
            raise BadInput(
                f"a pin needs executors of at least 1 and minutes from 1 to {_LONGEST_PIN_MIN}, but"
                f" it has {size!r} and {minutes!r}"
            )
        with self._lock:
            before = self._pinned[1] if self._pinned else self._sizing
            if before.mode == "external":
                raise Refused("the mode is external: the size is decided by its external writer")
            report = self.direct(replace(before, mode="external", size=int(size)))
            self._pinned = self._clock() + 60.0 * float(minutes), before  # type: ignore[arg-type]
            return report

    def change(self, values: Mapping[str, Any]) -> Report:
        """Change the fields of the sizing in ``values``; raises what ``direct`` raises."""
        with self._lock:
            return self.direct(sizing_of({**to_json(self._sizing), **values}))

    def direct(self, sizing: Sizing) -> Report:
        """Apply a sizing now, or when decisions resume; an unchanged sizing has no effect. Raises
        BadInput for an invalid policy or guard.
        """
        with self._lock:
            self._pinned = None
            if sizing != self._sizing:
                self._sized.direct(*self._parts(sizing))
                self._sized.pause("paused by the control API" if sizing.paused else "")
                self._sizing = sizing
                self.metrics.records.options = sizing.metrics
            return self.report()

    def _parts(self, sizing: Sizing) -> tuple[Policy, tuple[Guard, ...]]:
        policy, guards = self._sizing_parts(sizing)
        if sizing.mode == "external":
            # An external size does not depend on observations; its writer has its own cooldown.
            kept = tuple(
                rule for rule in guards if not isinstance(rule, Cooldown | Reversal | StaleData)
            )
            # FlapGuard comes first, so that the bounds still come last.
            return ExternalSizePolicy(sizing.size), (FlapGuard(), *kept)
        return policy, ((*guards, Held()) if sizing.mode == "shadow" else guards)

    def halt(self) -> Report:
        """Halt the decisions; the application keeps its size."""
        self._sized.halt()
        return replace(self.report(), halted=True)

    def resume(self) -> Report:
        """Resume the decisions; the report states any remaining cause of a halt."""
        self._sized.resume()
        cause = self._sized.halted
        detail = f"halted ({cause})" if cause else ""
        return replace(self.report(), halted=bool(cause), detail=detail)

    def drain(self) -> Report:
        """End the queries after their current batches; a second call has no effect."""
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
        """Return the present state."""
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
            observed = record.observation or Observation(t_s=record.t_s)
            return replace(
                report,
                application=observed.application,
                executors=observed.executors,
                target=record.size if record.target is None else record.target,
                phase=record.rescaling.phase,
                detail=record.rescaling.detail,
                reason=record.raw.reason if record.raw else "",
                contested=self._contested(),
                halted=record.rescaling.phase == "halted",
                age_s=None if self._recorded_s is None else self._clock() - self._recorded_s,
                metrics=self.metrics.gauges,
            )

    def _contested(self) -> str:
        """Return why a size was held against a second writer. The reason stays for ``WITHIN_S``
        seconds, so that it does not change with each write.
        """
        at_s, reason = self._contest or (float("-inf"), "")
        return reason if self._clock() - at_s < WITHIN_S else ""
