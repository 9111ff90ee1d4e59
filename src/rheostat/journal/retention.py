"""The retention of a journal: old segments are deleted by size and age; their changes are kept for
longer.

A deleted segment leaves a ``changes-NNNNN.jsonl`` with the records in which size, target or kill
switch differ from the previous record, which is all that ``rheostat explain`` shows of the past.
These files may use an eighth of the size. The current segment and the memory, from which a restart
resumes, are never deleted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rheostat.journal.record import SCHEMA, read_line, to_line
from rheostat.model import Record
from rheostat.storage.local_files import LocalFileSystem

if TYPE_CHECKING:
    from rheostat.config import JournalOptions

_MIB = 1024**2
_DAY_S = 86_400.0
_CHANGES_SHARE = 1 / 8
_SEGMENT_SHARE = 1 / 16
# Far more than the size of one record, so that it contains the complete last one.
_TAIL_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Retention:
    """The maximum size of a journal in bytes, and the maximum age of a segment in seconds."""

    most_bytes: int
    most_s: float

    @classmethod
    def of(cls, options: JournalOptions) -> Retention:
        """Return the retention for options in MiB and days."""
        return cls(int(options.journal_mib * _MIB), options.journal_days * _DAY_S)

    @property
    def segment_bytes(self) -> int:
        """The size in bytes at which a segment is full."""
        return int(self.most_bytes * _SEGMENT_SHARE)

    @property
    def changes_bytes(self) -> int:
        """The maximum bytes of the changes of deleted segments."""
        return int(self.most_bytes * _CHANGES_SHARE)

    @property
    def segments_bytes(self) -> int:
        """The maximum bytes of complete segments, with room for the next one."""
        # The next segment is already counted, so the journal never exceeds its maximum size.
        return self.most_bytes - self.changes_bytes - self.segment_bytes


def segments(folder: Path) -> list[Path]:
    """Return the journal's segments in order."""
    return sorted(folder.glob("segment-[0-9][0-9][0-9][0-9][0-9].jsonl"))


def changes_files(folder: Path) -> list[Path]:
    """Return the changes of deleted segments in order; changes of a segment that still exists
    (after a crash) are skipped, because the segment contains them.
    """
    existing = {_number(path) for path in segments(folder)}
    kept = sorted(folder.glob("changes-[0-9][0-9][0-9][0-9][0-9].jsonl"))
    return [path for path in kept if _number(path) not in existing]


def prune(folder: Path, retention: Retention, now: float) -> None:
    """Delete old segments until the journal is within its size and its age at ``now``.

    Call it while no segment is being written. Foreign files with such names remain and do not
    count. Raises nothing: what cannot be deleted now is deleted next time.
    """
    ours = list(filter(is_segment, segments(folder)))
    for path in _surplus(ours, retention.segments_bytes, now - retention.most_s):
        # The changes first: a crash in between leaves both, and the segment takes precedence.
        with suppress(OSError):
            _extract_changes(path)
        with suppress(OSError):
            path.unlink()
    for path in _surplus(changes_files(folder), retention.changes_bytes, None):
        with suppress(OSError):
            path.unlink()


def turning_points(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the first record, and each that differs from the previous in size, target or halt."""
    before: object = None
    for record in records:
        now = sizes_and_halt(record)
        if now != before:
            yield record
        before = now


def sizes_and_halt(record: Record) -> tuple[int | None, int | None, bool]:
    """Return the size and the target of a record, and whether the kill switch was set."""
    return record.size, record.target, record.rescaling.phase == "halted"


def is_segment(path: Path) -> bool:
    """Return whether a file is empty or begins with a journal record, whatever its name."""
    try:
        with path.open("rb") as file:
            first = file.readline()
        return not first or json.loads(first)["schema"] == SCHEMA
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _surplus(paths: Sequence[Path], most_bytes: int, oldest_s: float | None) -> list[Path]:
    """Return the oldest files: those beyond the size, and those whose last record is too old."""
    left = sum(map(_bytes, paths))
    for place, path in enumerate(paths):
        last_s = None if oldest_s is None else _last_s(path)
        is_old = last_s is not None and oldest_s is not None and last_s < oldest_s
        # Files are ordered by age, so the remaining ones are newer and fit.
        if left <= most_bytes and not is_old:
            return list(paths[:place])
        left -= _bytes(path)
    return list(paths)


def _extract_changes(segment: Path) -> None:
    kept = segment.with_name(f"changes-{_number(segment)}.jsonl")
    with segment.open("rb") as lines:
        # A damaged segment still leaves its readable changes.
        complete = filter(None, map(read_line, lines))
        text = "".join(f"{to_line(record)}\n" for record in turning_points(complete))
    LocalFileSystem().write(str(kept), text)


def _last_s(path: Path) -> float | None:
    """Return the time of the last complete record; None if there is none."""
    try:
        with path.open("rb") as file:
            # Read from the end, because a segment may have ten thousand records and only the last
            # one counts.
            file.seek(max(0, _bytes(path) - _TAIL_BYTES))
            lines = file.read().splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        with suppress(ValueError, KeyError, TypeError):
            return float(json.loads(line)["t_s"])
    return None


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _number(path: Path) -> str:
    return path.stem.rpartition("-")[2]
