"""A simulated Structured Streaming query: micro-batches of Kafka rows on executors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from rheostat.model import Capabilities, Decision, Observation, Rescaling
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.bookkeeping import Book
from rheostat.sim.engine import Events
from rheostat.sim.noise import Noise, streams
from rheostat.sim.plant import Ledger, Plant
from rheostat.sim.spark.spark_batch import SimulatedBatch
from rheostat.sim.spark.spark_fleet import Fleet
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_signals import PlantSensor
from rheostat.sim.spark.spark_stages import Stages
from rheostat.sim.workload import Workload

# Seconds to search ahead at a time: a load may bring no row for hours.
_IDLE_POLL_S = 60.0


class SparkPlant(Plant):
    """A simulated job, deterministic by seed; arrivals do not depend on the policy.

    ``workload`` gives rows/s; with ``poisson``, these are the means of random counts. Rows are
    conserved: arrived = committed + lag.
    """

    def __init__(
        self,
        parameters: SparkParameters,
        workload: Workload,
        *,
        seed: int = 0,
        poisson: bool = False,
    ) -> None:
        # Never change this order: append new streams, so that existing seeds keep their meaning.
        arriving, tasks, batches, starts, first = streams(seed, 5)
        self.p = parameters
        self.first_start_s = parameters.start_s * Noise(first, parameters.start_noise).take(1)[0]
        """Start time in seconds of the first initial executor."""
        self.events = Events()
        self.arrivals = Arrivals(workload, noise=arriving if poisson else None)
        self._book = Book(self.arrivals, parameters.executors)
        self.fleet = Fleet(
            parameters,
            self.events,
            self._book,
            Noise(starts, parameters.start_noise),
            self._registered,
        )
        self._stages = Stages(parameters, Noise(tasks, parameters.task_noise))
        self._batch_noise = Noise(batches, parameters.batch_noise)
        self._sensor = PlantSensor(self)
        self.committed = 0.0
        self.done_task_s = 0.0
        """Slot-seconds in tasks of completed batches."""
        self.running: SimulatedBatch | None = None
        self.last: SimulatedBatch | None = None
        self.slow = 1.0
        """Factor on the fixed cost of a batch; executors have their own factors for tasks."""
        self._due = False
        self.events.at(0.0, self._trigger)

    def observe(self, now: float) -> Sequence[Observation]:
        """Return what ``SparkSensor`` would report at ``now``, and the stages of the last batch."""
        self.advance(now)
        return (self._sensor.observe(now),)

    def capabilities(self) -> Capabilities:
        """Return that it can scale, and a note if its state does not move."""
        if self.p.placement or not self.p.state_partitions:
            return Capabilities(can_scale=True)
        return Capabilities(
            can_scale=True,
            cannot=("state does not move to new executors: without placement they get none",),
        )

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Set the target; executors register after a start time and are removed after a batch."""
        self.advance(now)
        rescaling = self.fleet.aim(decision.target, now)
        self._release_draining(now)
        return rescaling

    def advance(self, now: float) -> None:
        """Run all batches and executor changes up to ``now``."""
        self.events.run(now)

    def ledger(self) -> Ledger:
        """Return the ledger up to the last event."""
        return self._book.ledger(self.events.now)

    @property
    def state_rows(self) -> float:
        """The present rows of state: the expected distinct keys, or the rows of the window."""
        rows = self.committed * self.p.selectivity
        if self.p.state_keys is not None:
            return self.p.state_keys * -math.expm1(-rows / self.p.state_keys)
        if self.p.state_window_s is not None:
            older = self.arrivals.rows_at(self.events.now - self.p.state_window_s)
            return max(0.0, rows - older * self.p.selectivity)
        return 0.0

    @property
    def state_bytes(self) -> float:
        """The present bytes of state."""
        return self.state_rows * self.p.state_row_bytes

    def lose_executor(self, now: float) -> None:
        """Lose the oldest executor; a running batch is delayed by ``loss_s`` and its lost work."""
        self.advance(now)
        if not self.fleet.executors:
            return
        share = 1 / len(self.fleet.executors)
        self.fleet.lose(self.fleet.executors[0], now)
        if self.running:
            left = self.fleet.executors
            lost_s = share * (now - self.running.begin_s)
            again_s = lost_s if left else self.running.batch_s + self.p.start_s
            # The event of the old end detects that it is too early and schedules itself again.
            self.running.end_s += self.p.loss_s + again_s

    def slow_executor(self, factor: float, until_s: float, now: float) -> None:
        """Slow the oldest executor down by ``factor`` in batches that begin before ``until_s``."""
        self.advance(now)
        if self.fleet.executors:
            self.fleet.executors[0].slow, self.fleet.executors[0].slow_until_s = factor, until_s

    def _trigger(self, now: float) -> None:
        """Begin a batch if there are rows and executors; otherwise retry later."""
        self._due = not self.fleet.staying
        if self._due:
            return
        self._stages.place(self.fleet, now)
        rows = math.floor(
            # Rows are integers; the tolerance covers sums that are slightly below one.
            min(self.arrivals.rows_at(now) - self.committed + 1e-6, self.p.max_rows or math.inf)
        )
        if rows < 1:
            self._release_draining(now)
            self.events.at(self._next_trigger_s(now), self._trigger)
            return
        fixed_s = self.p.fixed_s * self.slow * self._batch_noise.take(1)[0]
        # Half of the fixed cost is planning before the tasks, half the commit after them.
        stages = self._stages.run(rows, self.fleet, now + fixed_s / 2, self.state_rows)
        end_s = max(stages[-1].ends_s) + fixed_s / 2
        batch = SimulatedBatch(
            # A batch needs a positive duration, or back-to-back batches would stop the clock.
            now,
            max(end_s, now + 1e-3),
            self.committed,
            self.committed + rows,
            fixed_s,
            stages,
        )
        self.running = batch
        self.events.at(batch.end_s, partial(self._end, batch))

    def _end(self, batch: SimulatedBatch, now: float) -> None:
        if batch.end_s > now:  # an executor was lost during the batch
            self.events.at(batch.end_s, partial(self._end, batch))
            return
        self.committed = batch.end_row
        self.done_task_s += batch.task_s
        self.last, self.running = batch, None
        self._book.committed(now, self.committed)
        self._release_draining(now)
        self.events.at(max(now, self._next_multiple_s(batch.begin_s)), self._trigger)

    def _release_draining(self, now: float) -> None:
        """Release draining executors once no batch or state needs them."""
        if self.running is None:
            leaving = [executor for executor in self.fleet.executors if executor.leaving]
            self.fleet.release([one for one in leaving if not self._stages.needs(one)], now)

    def _registered(self, now: float) -> None:
        if self._due:
            self._trigger(now)

    def _next_multiple_s(self, begin_s: float) -> float:
        if self.p.trigger_s == 0:
            return begin_s
        return (math.floor(begin_s / self.p.trigger_s + 1e-9) + 1) * self.p.trigger_s

    def _next_trigger_s(self, now: float) -> float:
        """Return when a row may be available: at the next trigger, or at its arrival."""
        if self.p.trigger_s > 0:
            return self._next_multiple_s(now)
        latest_s = now + _IDLE_POLL_S
        arrives_s = self.arrivals.time_of(self.committed + 1, by_s=latest_s)
        return max(now + 0.01, min(arrives_s, latest_s))
