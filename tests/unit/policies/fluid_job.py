"""A small job that is both a sensor and an actuator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rheostat.errors import BadInput
from rheostat.model import Capabilities, Decision, InFlight, Observation, Rescaling
from rheostat.ports import Actuator, Sensor
from rheostat.signals.latency import ArrivalCurve, Points, with_point

_STEP_S = 1.0


@dataclass(frozen=True, slots=True)
class FakeBatch:
    """A micro-batch: it takes the queued rows at ``start_s`` and commits them at ``end_s``."""

    start_s: float
    end_s: float
    rows: float


class FluidJob(Sensor, Actuator):
    """A small deterministic micro-batch job that is both Sensor and Actuator; ``observe(now)``
    advances its clock.

    Rows arrive at ``rate(t)`` per second and queue up. A batch starts at every multiple of
    ``trigger_s`` (immediately if the last one overran, or if it is 0). It takes the queued rows, at
    most ``max_rows``, lasts ``fixed_s`` + rows / (executors x ``capacity(t)``), and commits the
    rows at its end. An executor registers ``start_ticks`` ticks after its request and is removed
    immediately. Rows are never lost: ``arrived == committed + lag_rows`` at every moment.
    """

    def __init__(
        self,
        rate: Callable[[float], float],
        capacity: Callable[[float], float] | float = 1000.0,
        *,
        executors: int = 1,
        start_ticks: int = 2,
        trigger_s: float = 1.0,
        fixed_s: float = 0.1,
        max_rows: float = math.inf,
    ) -> None:
        if not (trigger_s >= 0 and fixed_s >= 0 and executors >= 1):
            raise BadInput(
                f"trigger_s ({trigger_s}) and fixed_s ({fixed_s}) must be at least 0, executors"
                f" ({executors}) at least 1"
            )
        self._rate = rate
        self._capacity = capacity if callable(capacity) else lambda _: capacity
        self._start_ticks, self._max_rows = start_ticks, max_rows
        self._trigger_s, self._fixed_s = trigger_s, fixed_s
        self.executors = self.target = executors
        self._starting: list[int] = []
        self._running: FakeBatch | None = None
        self.last: FakeBatch | None = None
        self.t_s: float | None = None
        self.arrived = self.committed = 0.0
        self.executor_s = 0.0
        self.worst_lag_s = 0.0
        self._arrivals: Points = ()

    @property
    def lag_rows(self) -> float:
        """Rows that have arrived and are not committed."""
        return self.arrived - self.committed

    def observe(self, now: float) -> Sequence[Observation]:
        """Run until ``now`` and return the observation at that time."""
        since_s, before = (now, self.arrived) if self.t_s is None else (self.t_s, self.arrived)
        self._start_executors()
        self._advance(now)
        rate = (self.arrived - before) / (now - since_s) if now > since_s else self._rate(now)
        self.executor_s += self.executors * (now - since_s)
        self._arrivals = with_point(self._arrivals, now, self.arrived)
        wait = ArrivalCurve(self._arrivals).waits(self.lag_rows, now)
        self.worst_lag_s = max(self.worst_lag_s, wait.oldest_s if wait else 0.0)
        last, running = self.last, self._running
        return (
            Observation(
                t_s=now,
                application="fluid",
                query="fluid",
                executors=self.executors,
                slots_per_executor=1,
                target=self.target,
                input_rows_per_s=rate,
                lag_rows=self.lag_rows,
                lag_s=wait.oldest_s if wait else None,
                lag_mean_s=wait.mean_s if wait else None,
                trigger_s=self._trigger_s,
                batch_s=last.end_s - last.start_s if last else None,
                batch_rows=round(last.rows) if last else None,
                processed_rows_per_s=last.rows / (last.end_s - last.start_s) if last else None,
                in_flight=(
                    InFlight(elapsed_s=now - running.start_s, rows=round(running.rows))
                    if running
                    else None
                ),
            ),
        )

    def capabilities(self) -> Capabilities:
        """Return that the job can be scaled."""
        return Capabilities(can_scale=True)

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Request missing executors; remove surplus ones immediately."""
        self.target = decision.target
        missing = decision.target - self.executors
        if missing > 0:
            self._starting = (
                self._starting + [self._start_ticks] * (missing - len(self._starting))
            )[:missing]
            return Rescaling(phase="growing", detail=f"{missing} starting")
        self._starting = []
        self.executors = decision.target
        return Rescaling(phase="shrinking" if missing < 0 else "steady")

    def _start_executors(self) -> None:
        self._starting = [ticks - 1 for ticks in self._starting]
        self.executors += sum(ticks <= 0 for ticks in self._starting)
        self._starting = [ticks for ticks in self._starting if ticks > 0]

    def _advance(self, now: float) -> None:
        if self.t_s is None:
            self.t_s = now
        while True:
            due_s = self._running.end_s if self._running else self._next_start_s(self.t_s)
            if due_s > now:
                break
            self._arrive(due_s)
            if self._running:
                self._end(self._running)
            else:
                self._begin(due_s)
        self._arrive(now)

    def _next_start_s(self, t_s: float) -> float:
        if self.last is None or self.last.end_s - self.last.start_s >= self._trigger_s:
            return t_s
        return max(t_s, (math.floor(self.last.start_s / self._trigger_s) + 1) * self._trigger_s)

    def _begin(self, start_s: float) -> None:
        rows = min(self.lag_rows, self._max_rows)
        work_s = rows / (self.executors * self._capacity(start_s))
        self._running = FakeBatch(
            start_s=start_s, end_s=start_s + max(self._fixed_s + work_s, 1e-3), rows=rows
        )

    def _end(self, batch: FakeBatch) -> None:
        self.committed += batch.rows
        self.last, self._running = batch, None

    def _arrive(self, until_s: float) -> None:
        while self.t_s is not None and self.t_s < until_s:
            step_s = min(self._trigger_s or _STEP_S, until_s - self.t_s)
            self.arrived += max(0.0, self._rate(self.t_s + step_s / 2)) * step_s
            self.t_s = min(until_s, self.t_s + step_s)
