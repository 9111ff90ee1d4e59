"""The backlog that a source reports itself, in the progress event of its last batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rheostat.sources.backlog_reader import Amount, Backlog, BacklogReader, Source, Unit

_OUTSTANDING: Mapping[str, Unit] = {"numFilesOutstanding": "files", "numBytesOutstanding": "bytes"}
"""Metrics of Auto Loader and of Delta on Databricks; files first, because Auto Loader's offsets
number the files, so that rows per file can be learnt."""


class ReportedBacklog(BacklogReader):
    """Reads offsets that are numbers, and the metrics of ``ReportsSourceMetrics``.

    It knows the state of its last progress event; until the next one the backlog is extrapolated.
    """

    def backlog(self, source: Source, now: float) -> Backlog | None:
        """Return what the progress event reports, first rows, then files or bytes, then time."""
        t_s = float(source.get("planned_s", now))
        metrics = source.get("metrics") or {}
        left = self.between(source.get("endOffset"), source.get("latestOffset"))
        amount = _rows_behind(source, metrics) or left or _outstanding(metrics)
        wait_s = _wait_s(metrics)
        return Backlog(t_s, amount, wait_s) if amount or wait_s is not None else None

    def between(self, start: Any, end: Any) -> Amount | None:
        """Return the sum of the differences of two offsets that are numbers or maps of numbers."""
        before, after = dict(_numbers(start)), dict(_numbers(end))
        if not after or not before.keys() <= after.keys():
            return None
        # Auto Loader's offset has other numbers in addition to the number of its newest file.
        if ("seqNum",) in after:
            return Amount(max(0.0, after["seqNum",] - before.get(("seqNum",), 0.0)), "files")
        if not all(
            isinstance(number, int | float) for number in (*before.values(), *after.values())
        ):
            return None
        return Amount(
            sum(max(0.0, number - before.get(name, 0.0)) for name, number in after.items()),
            "offsets",
        )


def _numbers(offset: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the leaves of an offset with their paths."""
    if isinstance(offset, Mapping):
        for name, value in offset.items():
            yield from _numbers(value, (*path, str(name)))
    elif offset is not None:
        yield path, offset


def _rows_behind(source: Source, metrics: Mapping[str, Any]) -> Amount | None:
    """Return the offsets behind the latest: their mean times the partitions."""
    mean = _number(metrics, "avgOffsetsBehindLatest")
    partitions = sum(1 for _ in _numbers(source.get("endOffset")))
    return Amount(mean * partitions, "rows") if mean is not None and partitions else None


def _outstanding(metrics: Mapping[str, Any]) -> Amount | None:
    for name, unit in _OUTSTANDING.items():
        number = _number(metrics, name)
        if number is not None:
            return Amount(number, unit)
    behind = _number(metrics, "estimatedTotalBytesBehindLatest")
    return None if behind is None else Amount(behind, "bytes")


def _wait_s(metrics: Mapping[str, Any]) -> float | None:
    """Return the age of the oldest record: Kinesis reports it in milliseconds."""
    for name in ("maxMsBehindLatest", "MillisBehindLatest", "millisBehindLatest"):
        number = _number(metrics, name)
        if number is not None:
            return number / 1000
    return None


def _number(metrics: Mapping[str, Any], name: str) -> float | None:
    """Return a metric as a number: Spark reports texts, and -1 or NaN for what it does not know."""
    try:
        number = float(metrics[name])
    except (KeyError, TypeError, ValueError):
        return None
    return number if 0 <= number < float("inf") else None
