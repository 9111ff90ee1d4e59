"""Observes the batches (from the REST interface) and executors of a StreamingContext."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rheostat.model import InFlight, Observation
from rheostat.ports import Sensor
from rheostat.spark.sensing.rest import Pages, Rest, unix_s

_RATE_S = 60.0
COMPLETED, PROCESSING = "COMPLETED", "PROCESSING"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamBatch:
    """A created batch: its time (Unix seconds), rows and progress."""

    at_s: float
    status: str
    rows: int
    waited_s: float | None
    """The seconds from its creation to its start; None while it waits."""

    took_s: float | None
    """The seconds from its start to its end; None before that."""


def read_batches(page: Any) -> list[StreamBatch] | None:
    """Return the batches of the page ``streaming/batches``, oldest first; None without it."""
    if page is None:
        return None
    try:
        return sorted(map(_batch, page), key=lambda batch: batch.at_s)
    except (KeyError, TypeError, ValueError):
        return None


def read_interval(pages: Pages) -> float | None:
    """Return the batch interval in seconds (``streaming/statistics``); None without it."""
    page = pages.get("streaming/statistics")
    try:
        return None if page is None else float(page["batchDuration"]) / 1000
    except (KeyError, TypeError, ValueError):
        return None


def _batch(read: Mapping[str, Any]) -> StreamBatch:
    return StreamBatch(
        at_s=unix_s(read["batchTime"]),
        status=str(read["status"]),
        rows=int(read["inputSize"]),
        waited_s=_seconds(read.get("schedulingDelay")),
        took_s=_seconds(read.get("processingTime")),
    )


def _seconds(milliseconds: Any) -> float | None:
    return None if milliseconds is None else float(milliseconds) / 1000


def running(batches: Sequence[StreamBatch], now: float) -> InFlight | None:
    """Return the batch that runs now; None without one."""
    current = next((batch for batch in batches if batch.status == PROCESSING), None)
    if current is None:
        return None
    began_s = current.at_s + (current.waited_s or 0.0)
    return InFlight(elapsed_s=max(0.0, now - began_s), rows=current.rows)


def signals(batches: Sequence[StreamBatch], batch_s: float, now: float) -> dict[str, Any]:
    """Return the observation fields of the batches: queued rows and latencies."""
    done = [batch for batch in batches if batch.took_s is not None]
    waiting = [batch for batch in batches if batch.status != COMPLETED and batch.rows]
    recent = [batch.rows / batch_s for batch in batches if now - batch.at_s <= _RATE_S]
    fields: dict[str, Any] = {
        "trigger_s": batch_s,
        "in_flight": running(batches, now),
        "input_rows_per_s": sum(recent) / len(recent) if recent else None,
    }
    if batches:
        rows = sum(batch.rows for batch in waiting)
        age_s = sum(batch.rows * (now - batch.at_s) for batch in waiting)
        fields |= {
            "lag_rows": float(rows),
            # A batch contains the rows of the interval before it.
            "lag_s": max((now - batch.at_s + batch_s for batch in waiting), default=0.0),
            "lag_mean_s": age_s / rows + batch_s / 2 if rows else 0.0,
        }
    if done:
        last = done[-1]
        took_s = last.took_s or 0.0
        fields |= {
            "batch_s": took_s,
            "batch_rows": last.rows,
            "processed_rows_per_s": last.rows / took_s if took_s > 0 else None,
            "latency_s": batch_s / 2 + (last.waited_s or 0.0) + took_s,
        }
    return fields


ANSWER_S = 15.0
"""The time-out in seconds: a young driver on a busy computer took 5 s for its first page."""


@dataclass(eq=False)
class DStreamsSensor(Sensor):
    """Reads the batches of a StreamingContext, including running ones, from the driver's REST
    interface, which Spark's own streaming listener feeds.

    ``batch_s`` returns the batch interval, ``active`` whether the context runs, and ``executors``
    the number of registered ones, if the actuator does not count them. Without the UI no batch is
    observable, and a policy that needs one keeps the size.
    """

    rest: Rest
    application: str
    slots_per_executor: int
    batch_s: Callable[[], float | None]
    active: Callable[[], bool]
    executors: Callable[[], int | None] = lambda: None

    def observe(self, now: float) -> Sequence[Observation]:
        """Return one observation; none while the context does not run."""
        if not self.active():
            return ()
        batch_s = self.batch_s()
        batches = read_batches(self.rest.get("streaming/batches"))
        measured = signals(batches, batch_s, now) if batches is not None and batch_s else {}
        return (
            Observation(
                t_s=now,
                application=self.application,
                query="dstreams",
                executors=self.executors(),
                slots_per_executor=self.slots_per_executor,
                **measured,
            ),
        )
