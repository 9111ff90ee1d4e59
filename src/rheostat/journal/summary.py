"""The running summary of a journal: a small file with its totals and the place that they cover, so
that a status reads only the records after that place.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rheostat.journal.reading import Place, records_from
from rheostat.journal.starts import Start, read_events, starts_of
from rheostat.journal.totals import Totals, totals_of
from rheostat.model import Record
from rheostat.storage.local_files import LocalFileSystem

SUMMARY_FILE = "summary.json"
SCHEMA = 1
EVERY_S = 60.0
"""Seconds between two writes; a reader adds at most the records of this time."""


@dataclass(slots=True, kw_only=True)
class Summary:
    """Totals of all records up to ``offset`` bytes in ``segment``, and of all earlier segments."""

    segment: str = ""
    offset: int = 0
    totals: Totals = field(default_factory=Totals)


class SummaryWriter:
    """Maintains the summary of a journal that this process writes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._starts: list[Start] = []
        self._summary = Summary()
        self._written_s = float("-inf")

    def begin(self) -> None:
        """Add the records of other processes; a journal without a summary is read completely."""
        self._starts = starts_of(read_events(self._folder))
        self._summary, _ = summarize(self._folder)

    def note(self, start: Start) -> None:
        """Add a new start."""
        self._starts.append(start)

    def add(self, record: Record, segment: str, offset: int) -> None:
        """Add a record that ends at ``offset`` in a segment; the file follows within a minute."""
        self._summary.totals.fold(record, self._starts)
        self._summary.segment, self._summary.offset = segment, offset
        if not 0 <= record.t_s - self._written_s < EVERY_S:
            self.write()
            self._written_s = record.t_s

    def write(self) -> None:
        """Replace the file atomically."""
        LocalFileSystem().write(str(self._folder / SUMMARY_FILE), summary_text(self._summary))


def summarize(folder: Path) -> tuple[Summary, Record | None]:
    """Return the summary up to the last record, and that record if it was read; writes nothing.

    Reads the records after the place that the file covers, or all records without a file. A record
    that is not newer than the totals is not added again.
    """
    summary = _read(folder)
    starts = starts_of(read_events(folder))
    last = None
    for place, record in records_from(folder, Place(summary.segment, summary.offset)):
        summary.totals.fold(record, starts)
        summary.segment, summary.offset, last = place.segment, place.offset, record
    return summary, last


def summary_text(summary: Summary) -> str:
    """Return a summary as the text of its file."""
    return json.dumps(
        {
            "schema": SCHEMA,
            "segment": summary.segment,
            "offset": summary.offset,
            "totals": asdict(summary.totals),
        },
        separators=(",", ":"),
    )


def moved(text: str, segment: str) -> str:
    """Return the text of a summary for a copy of the journal whose segments have other names; it
    covers the copy at least up to the beginning of ``segment``.
    """
    return json.dumps({**json.loads(text), "segment": segment, "offset": 0})


def _read(folder: Path) -> Summary:
    try:
        read = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
        if read["schema"] != SCHEMA:
            return Summary()
        totals = totals_of(read["totals"])
        return Summary(segment=read["segment"], offset=read["offset"], totals=totals)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Summary()
