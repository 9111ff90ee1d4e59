"""The backlog of an Iceberg table: the rows of the snapshots that were appended after an offset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rheostat.sources.backlog_reader import Amount, Backlog, BacklogReader, Source

DESCRIPTION = "org.apache.iceberg.spark.source.SparkMicroBatchStream@"
"""How the description of an Iceberg source begins; it does not name the table."""

_KEPT = 1000
"""Snapshots before the last batch that are kept, because that batch may have read them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot by its summary: what it added, and what the whole table holds with it.

    ``appends`` is false for operations that a stream skips.
    """

    number: int
    parent: int | None
    appends: bool
    files: int
    rows: int | None
    all_files: int
    all_rows: int | None


class IcebergTable(Protocol):
    """The history of a table; methods raise ``OSError`` with one line as the message."""

    def newest(self) -> int | None:
        """Look for new snapshots and return the id of the current one; None if there is none."""

    def snapshot(self, number: int) -> Snapshot | None:
        """Return a snapshot; None once it has expired."""


@dataclass(frozen=True, slots=True)
class _Offset:
    """A snapshot, and how many of its files were read (Iceberg's ``StreamingOffset``)."""

    number: int
    position: int
    all_files: bool


class IcebergBacklog(BacklogReader):
    """Counts the rows of appended snapshots; of one that was read in part, by its share of files.

    Each call looks for new snapshots once.
    """

    def __init__(self, table: IcebergTable) -> None:
        self._table = table
        self._history: list[Snapshot] = []
        """From the oldest that is known to the current one."""

    def backlog(self, source: Source, now: float) -> Backlog | None:
        """Return the rows that were appended after the last finished batch."""
        end = _offset(source.get("endOffset"))
        if end is None:
            return None
        self._read(end.number)
        index = self._index(end.number)
        if index is None:
            raise LookupError(f"the history of the table no longer has snapshot {end.number}")
        del self._history[: max(0, index - _KEPT)]
        rows = self._after(end)
        return None if rows is None else Backlog(now, Amount(rows, "rows"))

    def between(self, start: Any, end: Any) -> Amount | None:
        """Return the rows between two offsets; None where the history was not read that far."""
        first, last = _offset(start), _offset(end)
        more = self._after(first) if first else None
        less = self._after(last) if last else None
        return None if more is None or less is None else Amount(max(0.0, more - less), "rows")

    def _read(self, back_to: int) -> None:
        """Read the snapshots since the last call; at first, those since ``back_to``."""
        known = {snapshot.number: index for index, snapshot in enumerate(self._history)}
        fresh: list[Snapshot] = []
        number = self._table.newest()
        while number is not None and number not in known:
            snapshot = self._table.snapshot(number)
            if snapshot is None:
                break
            fresh.append(snapshot)
            number = snapshot.parent if number != back_to else None
        # A table that was rolled back goes on after one of the snapshots that are known.
        kept = self._history[: known[number] + 1] if number in known else []
        self._history = [*kept, *reversed(fresh)]

    def _index(self, number: int) -> int | None:
        numbers = [snapshot.number for snapshot in self._history]
        return numbers.index(number) if number in numbers else None

    def _after(self, offset: _Offset) -> float | None:
        index = self._index(offset.number)
        if index is None:
            return None
        rows = [snapshot.rows for snapshot in self._history[index + 1 :] if snapshot.appends]
        rest = _rest(self._history[index], offset)
        return None if rest is None or None in rows else rest + sum(filter(None, rows))


def _rest(snapshot: Snapshot, offset: _Offset) -> float | None:
    """Return the rows of the files of a snapshot that were not read."""
    entire = offset.all_files
    files, rows = (
        (snapshot.all_files, snapshot.all_rows) if entire else (snapshot.files, snapshot.rows)
    )
    left = max(0, files - offset.position)
    if not left or not (entire or snapshot.appends):
        return 0.0
    return None if rows is None else rows * left / files


def _offset(offset: Any) -> _Offset | None:
    if not isinstance(offset, Mapping) or "snapshot_id" not in offset:
        return None
    position, entire = int(offset.get("position", 0)), bool(offset.get("scan_all_files"))
    return _Offset(int(offset["snapshot_id"]), position, entire)
