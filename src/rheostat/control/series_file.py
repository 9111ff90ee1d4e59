"""The series of a journal as files next to its segments: a line per minute, and a line per quarter
of an hour, so that a page of thirty days does not read thirty days of records.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rheostat.control.series import Bucket, Fold, from_line, merge, to_line
from rheostat.journal.reading import bisect
from rheostat.journal.starts import read_events, starts_of
from rheostat.machine.atomic_file import write_atomic
from rheostat.model import Record

SERIES_FILE, COARSE_FILE = "series.jsonl", "series-15min.jsonl"
WIDTH_S, COARSE_S = 60.0, 900.0
MOST_BYTES = 32 * 1024**2
_log = logging.getLogger("rheostat")


class SeriesWriter:
    """Appends a line for each minute of records, and one for each quarter of an hour; ``folder``
    returns the current folder of the journal.
    """

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._fold = Fold(WIDTH_S, ())
        self._quarter: list[Bucket] = []
        self._failed = False

    def add(self, record: Record) -> None:
        """Add the record of a tick; a failure is logged once and never reaches the loop."""
        try:
            bucket = self._fold.add(record)
            if bucket is not None:
                self._write(bucket)
        except Exception as fault:
            if not self._failed:
                _log.warning("rheostat: %s: %s; the job continues", SERIES_FILE, fault)
            self._failed = True

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
