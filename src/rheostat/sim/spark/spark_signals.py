"""The observations of a simulated Spark query: the signals of a live one, with their windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rheostat.model import InFlight, Observation
from rheostat.signals.latency import Wait
from rheostat.sim.spark.spark_batch import SimulatedBatch
from rheostat.sim.spark.spark_stages import SOURCES

if TYPE_CHECKING:
    from rheostat.sim.spark.spark_plant import SparkPlant

_POLL_S = 15.0
"""Seconds between two reads of the executors' task times by a live sensor."""

_IDLE_S = 10.0
"""Minimum seconds without a batch after which the last one is outdated."""


class PlantSensor:
    """Observes a plant and keeps the previous values that rates need."""

    def __init__(self, plant: SparkPlant) -> None:
        self._plant = plant
        self._rows: tuple[float, float] | None = None
        self._polled: tuple[float, float, float] | None = None
        self._busy: float | None = None
        self._seen_rate: float | None = None

    def observe(self, now: float) -> Observation:
        """Return the observation at ``now``."""
        plant, p = self._plant, self._plant.p
        arrived = plant.arrivals.rows_at(now)
        rate = self._rate(now, arrived)
        lag = max(0.0, arrived - plant.committed)
        last, running = plant.last, plant.running
        idle = (
            last is not None
            and running is None
            and lag < 1
            and now - last.end_s > max(_IDLE_S, 3 * p.trigger_s)
        )
        # As in the live sensor: an idle query reports 0, one without a batch None.
        shown, still = None if idle else last, None if last is None else 0
        busy, wait = self._busy_share(now), self._wait(now, lag)
        return Observation(
            t_s=now,
            application="simulated",
            query="spark",
            executors=len(plant.fleet.executors),
            slots_per_executor=p.slots_per_executor,
            target=plant.fleet.target,
            first_start_s=plant.first_start_s,
            input_rows_per_s=rate,
            inputs=(
                None
                if rate is None
                else {name: s * rate for name, (s, _) in zip(SOURCES, p.shares, strict=False)}
            ),
            lag_rows=lag,
            lag_rows_upper=lag,
            lag_s=wait.oldest_s,
            lag_mean_s=wait.mean_s,
            busy=busy,
            cpu=None if busy is None or p.cpu_per_busy is None else busy * p.cpu_per_busy,
            trigger_s=p.trigger_s,
            in_flight=_in_flight(running, now) if running else None,
            state_rows=round(plant.state_rows) if p.state_partitions else None,
            state_bytes=round(plant.state_bytes) if p.state_partitions else None,
            state_partitions=p.state_partitions or None,
            latency_s=(
                last.end_s - plant.arrivals.mean_time(last.first_row, last.end_row)
                if last
                else None
            ),
            batch_s=shown.batch_s if shown else still,
            batch_rows=round(shown.rows) if shown else still,
            batch_parts_s=_parts_s(last) if last else None,
            processed_rows_per_s=shown.rows / shown.batch_s if shown else None,
            output_rows_per_s=shown.stages[-1].rows_out / shown.batch_s if shown else None,
            stages=tuple(stage.stage for stage in shown.stages) if shown else None,
        )

    def _rate(self, now: float, arrived: float) -> float | None:
        """Return the rows per second that arrived since the previous observation."""
        before = self._rows
        # A second call at the same time returns the same: the loop and a wrapper both observe.
        if before is None or now > before[0]:
            self._rows = (now, arrived)
            self._seen_rate = None if before is None else (arrived - before[1]) / (now - before[0])
        return self._seen_rate

    def _wait(self, now: float, lag: float) -> Wait:
        """Return the wait of the uncommitted rows; 0 for less than one row."""
        plant = self._plant
        if lag < 1:
            return Wait(0.0, 0.0)
        oldest_s = plant.arrivals.time_of(plant.committed, now)
        mean_s = plant.arrivals.mean_time(plant.committed, plant.committed + lag)
        return Wait(max(0.0, now - oldest_s), max(0.0, now - mean_s))

    def _busy_share(self, now: float) -> float | None:
        """Return the share of slot time in tasks between the last two polls."""
        before = self._polled
        if before is not None and now - before[0] < _POLL_S:
            return self._busy
        plant = self._plant
        task_s, slot_s = plant.done_task_s, plant.fleet.slot_s(now)
        if plant.running:
            # A live job counts a task at its end; an even progress is the mean of that.
            task_s += plant.running.task_s * (now - plant.running.begin_s) / plant.running.batch_s
        self._polled = (now, task_s, slot_s)
        if before is not None and slot_s > before[2]:
            self._busy = min(1.0, max(0.0, (task_s - before[1]) / (slot_s - before[2])))
        return self._busy


def _in_flight(batch: SimulatedBatch, now: float) -> InFlight:
    ends_s = [end_s for stage in batch.stages for end_s in stage.ends_s]
    done = sum(end_s <= now for end_s in ends_s)
    return InFlight(
        elapsed_s=now - batch.begin_s,
        rows=round(batch.rows),
        tasks_done=done,
        tasks_left=len(ends_s) - done,
    )


def _parts_s(batch: SimulatedBatch) -> dict[str, float]:
    """Return the parts of a batch under Spark's names, in the proportions of an idle batch."""
    return {
        "triggerExecution": batch.batch_s,
        "addBatch": batch.batch_s - 0.5 * batch.fixed_s,
        "walCommit": 0.2 * batch.fixed_s,
        "commitOffsets": 0.2 * batch.fixed_s,
        "queryPlanning": 0.05 * batch.fixed_s,
        "latestOffset": 0.05 * batch.fixed_s,
    }
