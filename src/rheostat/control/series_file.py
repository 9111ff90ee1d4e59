"""The series of a journal as a file beside its segments: one line per minute, so that a page of
thirty days does not read thirty days of records.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rheostat.control.series import Bucket, Fold, from_line, to_line
from rheostat.journal.starts import read_events, starts_of
from rheostat.machine.atomic_file import write_atomic
from rheostat.model import Record

SERIES_FILE = "series.jsonl"
WIDTH_S = 60.0
MOST_BYTES = 32 * 1024**2
_log = logging.getLogger("rheostat")


class SeriesWriter:
    """Appends a line for each minute of records; ``folder`` returns where the journal is now."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._fold = Fold(WIDTH_S, ())
        self._failed = False

    def add(self, record: Record) -> None:
        """Take the record of a tick; a failure is logged once and never reaches the loop."""
        try:
            bucket = self._fold.add(record)
            if bucket is not None:
                self._write(bucket)
        except Exception as fault:
            if not self._failed:
                _log.warning("rheostat: %s: %s; the job continues", SERIES_FILE, fault)
            self._failed = True

    def close(self) -> None:
        """Write what the last minute has."""
        bucket = self._fold.rest()
        if bucket is not None:
            with suppress(OSError):
                self._write(bucket)

    def _write(self, bucket: Bucket) -> None:
        folder = self._folder()
        path = folder / SERIES_FILE
        # Once a minute: settings that were changed from outside count from the next one on.
        self._fold.starts = starts_of(read_events(folder))
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{to_line(bucket)}\n")
            is_full = file.tell() > MOST_BYTES
        if is_full:
            text = path.read_text(encoding="utf-8")[-MOST_BYTES // 2 :]
            write_atomic(path, text.partition("\n")[2])


class SeriesReader:
    """Reads the file of a journal, each line once."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / SERIES_FILE
        self._offset = 0
        self.buckets: list[Bucket] = []

    def refresh(self) -> None:
        """Read the lines that were added."""
        try:
            size = self._path.stat().st_size
            if size < self._offset:  # the writer has shortened it
                self._offset, self.buckets = 0, []
            if size == self._offset:
                return
            with self._path.open("rb") as file:
                file.seek(self._offset)
                text = file.read()
        except OSError:
            return
        lines, _, _ = text.rpartition(b"\n")
        self._offset += len(lines) + 1 if lines else 0
        read = (from_line(line) for line in lines.decode("utf-8", "replace").splitlines())
        self.buckets += [bucket for bucket in read if bucket is not None]
