"""The series of one journal in the resolution of a chart: recent ticks, or all if nothing else
exists, and older minutes and quarters of an hour from the files next to the journal.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rheostat.control.series import Bucket, Fold, from_line, merge, to_line
from rheostat.journal.reading import (
    Place,
    bisect,
    last_record,
    place_of,
    records_from,
    records_until,
)
from rheostat.journal.starts import Start, read_events, starts_of
from rheostat.loop import FaultLog
from rheostat.machine.atomic_file import write_atomic
from rheostat.model import Record

RECENT_S = 3 * 3600.0
"""Seconds up to which single ticks are shown; older ones are shown by the minute."""

_LEAD_S = 60.0
"""Seconds of ticks to read before a range: detecting a change needs the previous tick."""

SERIES_FILE, COARSE_FILE = "series.jsonl", "series-15min.jsonl"
WIDTH_S, COARSE_S = 60.0, 900.0
MOST_BYTES = 32 * 1024**2


class JournalSeries:
    """Reads a journal's buckets between two times, from any thread, and each record once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._coarse = SeriesReader(folder / COARSE_FILE)
        self._minutes = SeriesReader(folder / SERIES_FILE)
        self._unindexed: list[Bucket] | None = None
        self._unindexed_until_s = 0.0
        self._ticks: list[Bucket] = []
        self._ticks_from_s = math.inf
        self._fold = Fold(0.0, ())
        self._place = Place()

    def extent(self) -> tuple[float | None, float | None]:
        """Return the times of the first and the last record."""
        first = next((record for _, record in records_from(self._folder, Place())), None)
        last = last_record(self._folder)
        times = [first.t_s if first else None, self._coarse.first_s(), self._minutes.first_s()]
        last_s = last.t_s if last else None
        return min((t_s for t_s in (*times, last_s) if t_s is not None), default=None), last_s

    def between(
        self, from_s: float | None, to_s: float | None, width_s: float = 0.0
    ) -> tuple[list[Bucket], list[Start]]:
        """Return the buckets between two times (None means the first or the last) and the starts of
        the job; buckets may be as wide as ``width_s``. What has a later time than the last record
        was recorded before the clock was set back, and is left out.
        """
        begin_s = -math.inf if from_s is None else from_s
        with self._lock:
            starts = starts_of(read_events(self._folder))
            last = last_record(self._folder)
            if last is None:
                return [], starts
            self._fold.starts = starts
            end_s = min(to_s or math.inf, last.t_s)
            recent_s, buckets = last.t_s - RECENT_S, list[Bucket]()
            if begin_s < recent_s:
                buckets = self._older(begin_s, recent_s, width_s, starts)
                begin_s = _after(buckets) if buckets else recent_s
            if begin_s <= end_s:
                buckets += self._ticks_since(begin_s)
            inside = [bucket for bucket in buckets if bucket.t_s <= end_s]
            return sorted(inside, key=lambda bucket: bucket.t_s), starts

    def _older(
        self, begin_s: float, recent_s: float, width_s: float, starts: list[Start]
    ) -> list[Bucket]:
        """Return buckets from the files, up to ``recent_s`` if ``width_s`` needs single ticks;
        buckets from before the first line of the files come from the records.
        """
        first_s = self._minutes.first_s()
        buckets = list[Bucket]()
        if begin_s < (recent_s if first_s is None else first_s):
            until_s = recent_s if first_s is None else first_s
            buckets = [b for b in self._records_until(until_s, starts) if b.end_s >= begin_s]
        if first_s is not None:
            for reader, level_s in ((self._coarse, COARSE_S), (self._minutes, WIDTH_S)):
                if width_s >= level_s or reader is self._minutes:
                    buckets += reader.since(_after(buckets) if buckets else begin_s - level_s)
        if width_s < WIDTH_S:
            buckets = [bucket for bucket in buckets if bucket.end_s < recent_s]
        return buckets

    def _records_until(self, until_s: float, starts: list[Start]) -> list[Bucket]:
        if self._unindexed is None or until_s > self._unindexed_until_s + RECENT_S:
            fold = Fold(WIDTH_S, starts)
            read = [fold.add(record) for record in records_until(self._folder, until_s)]
            self._unindexed = [b for b in (*read, fold.rest()) if b is not None]
            self._unindexed_until_s = until_s
        return self._unindexed

    def _ticks_since(self, since_s: float) -> list[Bucket]:
        """Return single ticks since ``since_s``, including those added to the journal since."""
        if not self._ticks_from_s <= since_s <= self._ticks_from_s + RECENT_S:
            self._ticks, self._ticks_from_s = [], since_s
            self._fold = Fold(0.0, self._fold.starts)
            self._place = place_of(self._folder, since_s - _LEAD_S)
        for place, record in records_from(self._folder, self._place):
            self._place = place
            self._ticks += filter(None, (self._fold.add(record), self._fold.rest()))
        return [bucket for bucket in self._ticks if bucket.t_s >= since_s]


def _after(buckets: list[Bucket]) -> float:
    return math.nextafter(buckets[-1].end_s, math.inf)


class SeriesWriter:
    """Appends a line for each minute of records, and one for each quarter of an hour; ``folder``
    returns the current folder of the journal.
    """

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._fold = Fold(WIDTH_S, ())
        self._quarter: list[Bucket] = []
        self._faults = FaultLog(f"{SERIES_FILE} is not written; the job continues")

    def add(self, record: Record) -> None:
        """Add the record of a tick; failures are logged once per kind and never reach the loop."""
        try:
            bucket = self._fold.add(record)
            if bucket is not None:
                self._write(bucket)
        except Exception as fault:
            self._faults.warn(fault)

    def close(self) -> None:
        """Write the incomplete minute and quarter of an hour."""
        bucket = self._fold.rest()
        with suppress(OSError):
            if bucket is not None:
                self._write(bucket)
            self._write_quarter()

    def _write(self, bucket: Bucket) -> None:
        if self._quarter and bucket.t_s // COARSE_S != self._quarter[0].t_s // COARSE_S:
            self._write_quarter()
        self._quarter.append(bucket)
        # Read the starts once a minute: changed settings take effect from the next minute on.
        self._fold.starts = starts_of(read_events(self._folder()))
        _append(self._folder() / SERIES_FILE, bucket)

    def _write_quarter(self) -> None:
        minutes, self._quarter = self._quarter, []
        if minutes:
            _append(self._folder() / COARSE_FILE, merge(minutes))


def _append(path: Path, bucket: Bucket) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{to_line(bucket)}\n")
        is_full = file.tell() > MOST_BYTES
    if is_full:
        text = path.read_text(encoding="utf-8")[-MOST_BYTES // 2 :]
        write_atomic(path, text.partition("\n")[2])


class SeriesReader:
    """Reads a file of series from a given time on, each line once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._from_s = float("inf")
        self._buckets: list[Bucket] = []

    def first_s(self) -> float | None:
        """Return the time of the first line; None without one."""
        with suppress(OSError), self._path.open(encoding="utf-8", errors="replace") as file:
            bucket = from_line(file.readline())
            return bucket.t_s if bucket else None
        return None

    def since(self, from_s: float) -> list[Bucket]:
        """Return the buckets from ``from_s`` on, including lines added since the last call."""
        with suppress(OSError), self._path.open("rb") as file:
            is_shorter = file.seek(0, 2) < self._offset  # the writer has deleted the oldest lines
            if from_s < self._from_s or is_shorter:
                self._offset, self._from_s, self._buckets = bisect(file, from_s, _time), from_s, []
            file.seek(self._offset)
            lines, _, _ = file.read().rpartition(b"\n")
            self._offset += len(lines) + 1 if lines else 0
            read = (from_line(line) for line in lines.decode("utf-8", "replace").splitlines())
            self._buckets += [bucket for bucket in read if bucket is not None]
        return [bucket for bucket in self._buckets if bucket.t_s >= from_s]


def _time(line: bytes) -> float | None:
    with suppress(IndexError, ValueError):
        return float(line.split(b",", 2)[1])
    return None
