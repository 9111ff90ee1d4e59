"""The end of the previous run, as a journal has it: the size in force, and the batches before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rheostat.journal.folder import MEMORY_FILE, memory_in
from rheostat.journal.record import read_line
from rheostat.journal.retention import segments
from rheostat.model import Memory, Observation, Record

_MOST_RECORDS = 1000
_TAIL_BYTES = 2 * 1024**2
_NEWEST_JOURNALS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The size in force at the last record, its time, and what was observed until then."""

    size: int | None
    t_s: float
    observations: tuple[Observation, ...]


def last_run(segments_backwards: Iterable[str], before_s: float) -> LastRun | None:
    """Return the end of the last run that was before a Unix time, from the texts of a journal's
    segments, newest first; None where there is no such record.
    """
    records = _newest(segments_backwards, before_s)
    if not records:
        return None
    sizes = (size for record in records if (size := _size_in_force(record)) is not None)
    observations = tuple(record.observation for record in records if record.observation)
    return LastRun(size=next(sizes, None), t_s=records[0].t_s, observations=observations)


def tails(folder: Path) -> Iterator[str]:
    """Yield the ends of a local journal's segments, newest first."""
    for path in reversed(segments(folder)):
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            yield file.read().decode("utf-8", errors="replace")


def memory_of(folder: Path) -> Memory:
    """Return the memory of a local journal, ``{}`` where it has none."""
    try:
        return memory_in((folder / MEMORY_FILE).read_text(encoding="utf-8")) or {}
    except (OSError, ValueError):
        return {}


def journal_of_command(place: Path, command: Sequence[str]) -> Path | None:
    """Return the newest journal below ``place`` of an application that was started by this command;
    None where there is none.
    """
    memories = sorted(place.glob(f"*/{MEMORY_FILE}"), key=_changed_s, reverse=True)
    for path in memories[:_NEWEST_JOURNALS]:
        if memory_of(path.parent).get("rescaling", {}).get("command") == list(command):
            return path.parent
    return None


def _newest(segments_backwards: Iterable[str], before_s: float) -> list[Record]:
    records: list[Record] = []
    for text in segments_backwards:
        for line in reversed(text.splitlines()):
            record = read_line(line)
            if record is not None and record.t_s < before_s:
                records.append(record)
            if len(records) >= _MOST_RECORDS:
                return records
    return records


def _size_in_force(record: Record) -> int | None:
    # What was only advised was never in force.
    if record.rescaling.phase == "advised":
        return record.observation.executors if record.observation else None
    return record.target


def _changed_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another application may erase it at this moment
        return 0.0
