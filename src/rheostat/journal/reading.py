"""Reads a journal: all records strictly, for people, or by bisection those around a moment."""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rheostat.errors import BadInput
from rheostat.journal.record import from_line, read_line
from rheostat.journal.retention import changes_files, segments
from rheostat.model import Record

_TIME = re.compile(rb'"t_s":\s*([0-9.eE+-]+)')


@dataclass(frozen=True, slots=True)
class Place:
    """An offset in bytes within a segment."""

    segment: str = ""
    offset: int = 0


def records_from(folder: Path, place: Place) -> Iterator[tuple[Place, Record]]:
    """Yield the complete records after a place, each with the place behind it."""
    for path in segments(folder):
        if path.name < place.segment:
            continue
        with suppress(OSError), path.open("rb") as file:
            offset = file.seek(place.offset) if path.name == place.segment else 0
            for line in file:
                if not line.endswith(b"\n"):
                    break  # still being written, or truncated by a crash
                offset += len(line)
                record = read_line(line)
                if record is not None:
                    yield Place(path.name, offset), record


def records_until(folder: Path, t_s: float) -> Iterator[Record]:
    """Yield the records before a time, including those that remain of deleted segments."""
    for path in [*changes_files(folder), *segments(folder)]:
        with suppress(OSError), path.open("rb") as file:
            for line in file:
                record = read_line(line)
                if record is not None and record.t_s >= t_s:
                    return
                if record is not None:
                    yield record


def place_of(folder: Path, t_s: float) -> Place:
    """Return the place of the first record at or after a time."""
    last = Place()
    for path in reversed(segments(folder)):
        with suppress(OSError), path.open("rb") as file:
            first_s = _time(file.readline())
            if first_s is not None and first_s < t_s:
                return Place(path.name, bisect(file, t_s))
            last = Place(path.name, 0)
    return last


def record_at(folder: Path, t_s: float) -> Record | None:
    """Return the newest record at or before a time; None if there is none."""
    newest = None
    for path in [*changes_files(folder), *segments(folder)][::-1]:
        with suppress(OSError), path.open("rb") as file:
            first_s = _time(file.readline())
            if first_s is None or first_s > t_s:
                continue
            end = bisect(file, t_s + 1e-6)
            file.seek(max(0, end - 256 * 1024))
            lines = file.read(end - file.tell()).splitlines()
            newest = next(filter(None, map(read_line, reversed(lines))), None)
            if newest is not None:
                return newest
    return newest


def newest_with(folder: Path, word: bytes, from_s: float, to_s: float) -> Iterator[Record]:
    """Yield the records between two times whose lines contain a word, newest first."""
    for path in [*changes_files(folder), *segments(folder)][::-1]:
        with (
            suppress(OSError, ValueError),  # an empty file cannot be mapped
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
        ):
            begin, end = bisect(file, from_s), bisect(file, to_s + 1e-6)
            while (at := text.rfind(word, begin, end)) >= 0:
                end = text.rfind(b"\n", 0, at) + 1
                record = read_line(text[end : text.find(b"\n", at) + 1])
                if record is not None:
                    yield record
            if begin > 0:
                return


def last_record(folder: Path) -> Record | None:
    """Return the newest complete record of a journal; None if there is none."""
    return record_at(folder, float("inf"))


def _time(line: bytes) -> float | None:
    match = _TIME.search(line[:200])
    try:
        return float(match[1]) if match else None
    except ValueError:
        return None


def bisect(file: BinaryIO, t_s: float, time_of: Callable[[bytes], float | None] = _time) -> int:
    """Return the offset of the first line at or after a time; the lines are in order of time."""
    low, high = 0, file.seek(0, 2)
    while low < high:
        middle = (low + high) // 2
        file.seek(max(0, middle - 1))
        if middle:
            file.readline()  # the rest of the line that contains this offset
        begin = file.tell()
        time_s = time_of(file.readline())
        if begin >= high or time_s is None or time_s >= t_s:
            high = middle
        else:
            low = file.tell()
    return low


def records(path: Path) -> Iterator[tuple[str, Record]]:
    """Yield (place, record) of a journal's folder, or of one file of JSON lines, in order.

    The records of deleted segments that retention has kept come first. A last line that a crash
    truncated is omitted. Raises BadInput, with file and line, for a complete line that is not a
    record, and for a path without a journal.
    """
    # Changes first, because they are what remains of older segments.
    files = [*changes_files(path), *segments(path)] if path.is_dir() else [path]
    if not files:
        raise BadInput(f"there is no journal in {path}: no file segment-NNNNN.jsonl")
    for file in files:
        yield from _records_of(file)


def _records_of(file: Path) -> Iterator[tuple[str, Record]]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.endswith("\n"):
                    place = f"{file.name}, line {number}"
                    yield place, _record(line, place)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"the journal {file} cannot be read:"
            f" {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}"
        ) from None


def _record(line: str, place: str) -> Record:
    try:
        return from_line(line)
    except KeyError as missing:
        raise BadInput(
            f"{place}: this record of a journal has no {missing}: {line.strip()[:60]!r}"
        ) from None
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{place}: this is not a journal record ({str(error).splitlines()[0]}):"
            f" {line.strip()[:60]!r}"
        ) from None
