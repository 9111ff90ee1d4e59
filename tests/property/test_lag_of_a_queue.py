"""``lag_s`` for queues with known arrival times of all rows: at every tick the sensor observes only
the data of a broker and of Spark's progress."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from rheostat.model import Observation
from rheostat.spark.sensing.sensor import SparkSensor

CURVES, UNTIL_S = 1000, 120.0
_RUNNING = {"message": "Processing new data", "isTriggerActive": True, "isDataAvailable": True}


def arrival_times(random_: random.Random) -> list[float]:
    """Return the arrival time of each row: intervals of constant rate, a third of them without
    rows, and peaks of up to fifty times the usual rate."""
    times, t_s = [0.0], 0.0
    while t_s < UNTIL_S:
        length_s = random_.uniform(5, 40)
        rate = 0.0 if random_.random() < 0.35 else 2.0 * 50 ** random_.random()
        rows = int(rate * length_s)
        times += [t_s + length_s * (n + random_.random()) / rows for n in range(rows)]
        t_s += length_s
    return sorted(times)


@dataclass
class Queue:
    """A query with batches of at most ``most`` rows, which take ``fixed_s`` plus ``row_s`` per row,
    and its broker."""

    arrived_s: list[float]
    trigger_s: float
    fixed_s: float
    row_s: float
    most: int
    now: float = 0.0
    committed: int = 0
    number: int = -1
    running: tuple[float, float, int, int] | None = None
    lastProgress: dict[str, Any] | None = None  # noqa: N815
    up: bool = True
    id: str = "id"
    runId: str = "run"  # noqa: N815
    name: str = "queue"
    status: dict[str, Any] = field(default_factory=lambda: dict(_RUNNING))

    def rows_by(self, t_s: float) -> int:
        return bisect_right(self.arrived_s, t_s)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def latest(self, topics: Any) -> dict[tuple[str, int], int]:
        return {("rows", 0): self.rows_by(self.now)}

    def advance(self, until_s: float) -> None:
        start_s = self.now
        while True:
            if self.running and self.running[1] <= until_s:
                start_s = self._end(*self.running)
            elif self.running or start_s > until_s:
                break
            else:
                start_s = self._begin(start_s)
        self.now = until_s

    def _begin(self, start_s: float) -> float:
        latest = self.rows_by(start_s)
        rows = min(latest - self.committed, self.most)
        if rows:
            self.running = (start_s, start_s + self.fixed_s + rows * self.row_s, rows, latest)
            return start_s
        return start_s + max(self.trigger_s, 0.1)

    def _end(self, start_s: float, end_s: float, rows: int, latest: int) -> float:
        before, self.committed, self.running = self.committed, self.committed + rows, None
        self.number += 1
        source = {
            "description": "KafkaV2[Subscribe[rows]]",
            "startOffset": {"rows": {"0": before}},
            "endOffset": {"rows": {"0": self.committed}},
            "latestOffset": {"rows": {"0": latest}},
            "numInputRows": rows,
        }
        self.lastProgress = {
            "id": self.id,
            "runId": self.runId,
            "name": self.name,
            "batchId": self.number,
            "timestamp": _iso(start_s),
            "durationMs": {"triggerExecution": 1000 * (end_s - start_s)},
            "numInputRows": rows,
            "sources": [source],
            "sink": {"numOutputRows": -1},
            "stateOperators": [],
        }
        return max(end_s, start_s + self.trigger_s)


def _iso(t_s: float) -> str:
    return f"1970-01-01T00:{int(t_s) // 60:02d}:{t_s % 60:09.6f}+00:00"


def random_queue(seed: int) -> tuple[Queue, float]:
    """Return a queue that only sometimes keeps up, and the tick interval in seconds."""
    random_ = random.Random(seed)
    arrived_s = arrival_times(random_)
    mean = len(arrived_s) / UNTIL_S
    queue = Queue(
        arrived_s,
        trigger_s=random_.choice([0.0, 1.0, 5.0, 10.0]),
        fixed_s=random_.uniform(0.1, 2.0),
        row_s=1 / (mean * random_.uniform(0.7, 3.0)),
        most=random_.choice([10**9, max(1, int(mean * random_.uniform(2, 20)))]),
    )
    return queue, random_.choice([2.0, 5.0, 10.0])


def observations_of(queue: Queue, tick_s: float, until_s: float = UNTIL_S) -> Iterator[Observation]:
    """Yield the sensor's observation at every tick after the first batch."""
    session = SimpleNamespace(streams=SimpleNamespace(active=[queue]))
    broker: Any = queue
    sensor = SparkSensor(session, None, broker, trigger_s=lambda _: queue.trigger_s)
    for tick in range(1, int(until_s / tick_s) + 1):
        queue.advance(tick * tick_s)
        yield sensor.observe(queue.now)[0]


def test_lag_is_within_a_tenth_of_the_truth_for_random_arrivals() -> None:
    checked = 0
    for seed in range(CURVES):
        queue, tick_s = random_queue(seed)
        first_s = math.inf
        for observation in observations_of(queue, tick_s):
            waiting = queue.arrived_s[queue.committed : queue.rows_by(queue.now)]
            if queue.lastProgress is None:
                continue
            first_s = min(first_s, queue.now)
            if observation.lag_s is None:
                # The curve begins at the first tick and does not contain older rows.
                assert waiting[0] <= first_s, f"seed {seed} at {queue.now}"
                continue
            oldest_s = queue.now - waiting[0] if waiting else 0.0
            mean_s = queue.now - sum(waiting) / len(waiting) if waiting else 0.0
            assert observation.lag_mean_s is not None
            assert observation.lag_littles_law_s is None
            # The curve is linear between two ticks, so arrival times are exact to one tick.
            for estimate, truth in (
                (observation.lag_s, oldest_s),
                (observation.lag_mean_s, mean_s),
            ):
                context = f"seed {seed} at {queue.now}: {estimate}, not {truth}"
                assert abs(estimate - truth) <= max(0.1 * truth, tick_s), context
            checked += bool(waiting)
    assert checked > 10 * CURVES


def test_littles_law_is_wrong_after_a_peak() -> None:
    peak = [n / 600 for n in range(36_000)]
    calm = [60.0 + n / 2 for n in range(240)]
    queue = Queue(peak + calm, 1.0, 0.1, 1 / 400, 10**9)
    after = [
        (observation, queue.committed)
        for observation in observations_of(queue, 2.0, 90.0)
        if observation.t_s > 64
    ]
    observation, committed = next(
        (observation, rows) for observation, rows in after if observation.lag_rows
    )
    truth_s = observation.t_s - queue.arrived_s[committed]
    assert abs((observation.lag_s or 0.0) - truth_s) < 2.0
    assert (observation.lag_rows or 0.0) / (observation.input_rows_per_s or 1.0) > 20 * truth_s
