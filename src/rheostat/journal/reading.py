"""A journal read back for people and programs: every record with the place where it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.journal.record import from_line
from rheostat.journal.retention import changes_files, segments
from rheostat.model import Record


def records(path: Path) -> Iterator[tuple[str, Record]]:
    """Yield (place, record) of a journal's folder or of one file of JSON lines, in their order.

    Of segments that retention has deleted the records in which something changed come first.
    A last line that was cut off by a crash is left out. Raises BadInput, with file and line, for a
    whole line that is no record, and for a path that holds no journal.
    """
    # Changes first: they are what is left of older segments.
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
            f"{place}: this is no record of a journal ({str(error).splitlines()[0]}):"
            f" {line.strip()[:60]!r}"
        ) from None
