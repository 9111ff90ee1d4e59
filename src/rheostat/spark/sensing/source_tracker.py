"""Observes a query's sources other than Kafka: backlog, arrival rate and wait of each, in rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rheostat.signals.application import fold
from rheostat.signals.arrivals_of_source import RowsPerUnit, arrival_rate, with_arrival
from rheostat.signals.latency import ArrivalCurve, Points, Wait, mean_s, with_point
from rheostat.sources.backlog_reader import Amount, Backlog, BacklogReader, Source
from rheostat.sources.readers import is_kafka
from rheostat.spark.sensing.progress import ReportedBatch, parsed_offset

_log = logging.getLogger("rheostat")
_OFFSETS = ("startOffset", "endOffset", "latestOffset")
_FIELDS = ("description", *_OFFSETS, "numInputRows", "metrics")
"""The fields of a source's entry that readers may need."""
_V1_TIME = "getOffset"
"""A part of a batch with sources without ``SupportsAdmissionControl``: Spark reports the end of
their batch as the latest offset, too (``MicroBatchExecution``), also where they limit the batch
themselves, as Event Hubs does."""

_READER_FAULTS = (OSError, ValueError, LookupError, TypeError)
_UNCOUNTED = "it reports none in its progress events; the job is sized by its batch times"

Readers = Callable[[Any, int, str], BacklogReader | None]
"""Returns the backlog reader of a query's source, from its number and its description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceView:
    """One source at one tick; rates in rows per second."""

    rate: float | None = None
    lag_rows: float | None = None
    by_source: Mapping[str, float] = field(default_factory=dict)
    backlog: Amount | None = None
    wait: Wait | None = None
    latency_s: float | None = None

    @property
    def waits(self) -> bool:
        """Whether the source is known to have a backlog."""
        return bool(self.backlog and self.backlog.value)


class SourceTracker:
    """Observes one source from tick to tick.

    Its arrival curve, which is the sum of all reads plus the backlog, is in units of the source, so
    that a better estimate of the rows per unit does not distort it.
    """

    def __init__(self, reader: BacklogReader) -> None:
        self._reader = reader
        self._end: Any = None
        self._read = self._read_before = 0.0
        """Units that the observed batches have read, with the last batch and without it."""
        self._unit: str | None = None
        self._ratio = RowsPerUnit()
        self._points: Points = ()
        self._arrivals: Points = ()
        self._failed = False

    def observe(self, source: Source, batch: ReportedBatch, now: float) -> SourceView:
        """Return the view of the source; its signals are absent if the reader fails."""
        offsets = {name: parsed_offset(source.get(name)) for name in _OFFSETS}
        if _V1_TIME in batch.parts_s and offsets["latestOffset"] == offsets["endOffset"]:
            offsets["latestOffset"] = None
        entry = {**source, **offsets, "planned_s": batch.planned_s}
        try:
            backlog = self._reader.backlog(entry, now)
            if entry["endOffset"] != self._end:
                self._count(entry)
        except _READER_FAULTS as fault:
            return self._unknown(source, str(fault))
        if backlog is None:
            is_new = source.get("endOffset") is None
            return SourceView() if is_new else self._unknown(source, _UNCOUNTED)
        self._failed = False
        return self._view(str(source.get("description")), backlog, batch, now)

    def close(self) -> None:
        """Close the reader; a failure is logged."""
        try:
            self._reader.close()
        except _READER_FAULTS as fault:
            _log.warning("rheostat: a backlog reader was not closed: %s", fault)

    def _unknown(self, source: Source, why: str) -> SourceView:
        """Log once why the backlog is unknown."""
        if not self._failed:
            text = f"the backlog of {source.get('description')} is unknown: {why}"
            _log.warning("rheostat: %s", " ".join(text.split()))
        self._failed = True
        return SourceView()

    def _count(self, source: Source) -> None:
        """Count what the batch read, including batches that no tick observed."""
        # By offsets: a progress event without data has the number of the next batch.
        start, end = source.get("startOffset"), source.get("endOffset")
        read = self._reader.between(start, end)
        before = self._reader.between(self._end, start) if self._end not in (None, start) else None
        self._read_before = self._read + (before.value if before else 0.0)
        self._read = self._read_before + (read.value if read else 0.0)
        if read:
            self._ratio = self._ratio.after_batch(
                float(source.get("numInputRows") or 0), read.value
            )
        self._end = end

    def _view(self, name: str, backlog: Backlog, batch: ReportedBatch, now: float) -> SourceView:
        amount, wait_s = backlog.amount, backlog.wait_s
        reported = Wait(wait_s, wait_s / 2) if wait_s is not None else None
        if amount is None:
            return SourceView(wait=reported)
        if amount.unit != self._unit:
            self._unit, self._points, self._arrivals = amount.unit, (), ()
        total = self._read + amount.value
        self._points = with_point(self._points, backlog.t_s, total)
        self._arrivals = with_arrival(self._arrivals, backlog.t_s, total)
        rate = arrival_rate(self._arrivals, backlog.t_s)
        since = (rate or 0.0) * (now - backlog.t_s)
        points = (*self._points, (now, total + since)) if since else self._points
        ratio = 1.0 if amount.unit == "rows" else self._ratio.ratio
        left, curve = amount.value + since, ArrivalCurve(points)
        spreads = curve.latencies(self._read_before, self._read, batch.commit_s)
        rows = None if ratio is None and left else left * (ratio or 0.0)
        return SourceView(
            rate=None if ratio is None or rate is None else rate * ratio,
            lag_rows=rows,
            by_source={name: rows} if rows else {},
            backlog=Amount(left, amount.unit),
            wait=reported or curve.waits(left, now),
            latency_s=mean_s(spreads),
        )


@dataclass(frozen=True, slots=True)
class SourceViews:
    """The sources of a query at one tick; a sum is absent if one of its summands is."""

    views: tuple[SourceView, ...]

    @classmethod
    def of(cls, kafka: SourceView | None, others: tuple[SourceView, ...]) -> SourceViews:
        """Return the views of a query; next to Kafka, sources that report nothing are omitted."""
        if kafka is None:
            return cls(others)
        return cls((kafka, *(view for view in others if view.backlog or view.wait)))

    @property
    def rate(self) -> float | None:
        """Rows that arrive per second, over all sources."""
        return fold((view.rate for view in self.views), sum)

    @property
    def lag_rows(self) -> float | None:
        """The backlog of all sources in rows."""
        return fold((view.lag_rows for view in self.views), sum)

    @property
    def by_source(self) -> dict[str, float]:
        """The backlog in rows, by source and partition."""
        return {name: rows for view in self.views for name, rows in view.by_source.items()}

    @property
    def backlog(self) -> Amount | None:
        """The backlog in the unit of the sources, if all use the same unit."""
        amounts = [view.backlog for view in self.views if view.backlog]
        if len(amounts) < len(self.views) or len({amount.unit for amount in amounts}) != 1:
            return None
        return Amount(sum(amount.value for amount in amounts), amounts[0].unit)

    @property
    def wait(self) -> Wait | None:
        """The wait of the source with the oldest row."""
        waits = [view.wait for view in self.views if view.wait]
        return max(waits, key=lambda wait: wait.oldest_s) if len(waits) == len(self.views) else None

    @property
    def latency_s(self) -> float | None:
        """The latency of the slowest source in seconds."""
        return fold((view.latency_s for view in self.views), max)


class SourceTrackers:
    """The sources of one query other than Kafka."""

    def __init__(self, query: Any, readers: Readers) -> None:
        self._query = query
        self._readers = readers
        self._trackers: dict[int, SourceTracker | None] = {}

    def observe(self, progress: Any, batch: ReportedBatch, now: float) -> tuple[SourceView, ...]:
        """Return a view of each source other than Kafka, in the order of the progress event."""
        read: Mapping[str, Any] = progress
        views = []
        for number, source in enumerate(read["sources"]):
            description = str(source["description"])
            if is_kafka(description):
                continue
            if number not in self._trackers:
                reader = self._readers(self._query, number, description)
                self._trackers[number] = SourceTracker(reader) if reader else None
            tracker = self._trackers[number]
            fields: Source = {name: source.get(name) for name in _FIELDS}
            views.append(tracker.observe(fields, batch, now) if tracker else SourceView())
        return tuple(views)

    def close(self) -> None:
        """Close the readers of all sources."""
        for tracker in filter(None, self._trackers.values()):
            tracker.close()
