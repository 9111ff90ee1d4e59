"""A journal in a local folder: append-only segments, the memory beside them, and the kill switch as
a file. Segments that are full are pruned as ``retention.py`` says.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from rheostat.config import JournalOptions
from rheostat.errors import BadInput
from rheostat.journal.claim import LEASE_FILE, OTHER_WRITER, Claim
from rheostat.journal.reading import Place, records_from
from rheostat.journal.record import SCHEMA, to_line
from rheostat.journal.retention import Retention, changes_files, is_segment, prune, segments
from rheostat.journal.starts import STARTS_FILE, Event, Start, append_event
from rheostat.journal.starts import STOP_FILE as STOP_FILE
from rheostat.journal.summary import SUMMARY_FILE, SummaryWriter
from rheostat.model import Memory, Record
from rheostat.storage.local_files import TEMPORARY, LocalFileSystem

_log = logging.getLogger("rheostat")
MEMORY_FILE = "memory.json"
_MEMORY_SCHEMA = 1

MOST_WAITING = 10_000
"""Records that are kept until they can be written: half a day of them."""


class FolderJournal:
    """Keeps records in ``segment-NNNNN.jsonl`` of a folder; a file named ``STOP`` beside them is
    the kill switch. ``options`` limit how much is kept. With a ``claim`` it writes only while that
    holds, and into the folder that the claim names.
    """

    def __init__(
        self,
        folder: Path,
        records_per_segment: int = 10_000,
        options: JournalOptions | None = None,
        claim: Claim | None = None,
    ) -> None:
        self._root = folder
        self._claim = claim
        self._unwritten: list[Record] = []
        self.other_switch: Callable[[], str] | None = None
        """Returns the kill switch that is elsewhere; None where none is looked for."""
        self._records_per_segment = records_per_segment
        self._retention = Retention.of(options or JournalOptions())
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(
                f"the journal folder {folder} cannot be made: {error.strerror}"
            ) from None
        self._segments = 0
        self._records = self._bytes = 0
        self._segment_name = ""
        self._disk = LocalFileSystem(durable=False)
        self._summary = SummaryWriter(self.folder)

    @property
    def folder(self) -> Path:
        """The folder that is written."""
        return self._root / self._claim.place if self._claim else self._root

    @property
    def stop_file(self) -> Path:
        """The file whose existence is the kill switch."""
        return self.folder / STOP_FILE

    def restore(self) -> Memory:
        """Return the memory kept last; ``{}`` if there is none or it is of another schema."""
        try:
            return memory_in((self.folder / MEMORY_FILE).read_text(encoding="utf-8")) or {}
        except (OSError, ValueError):
            return {}

    def append(self, record: Record, memory: Memory) -> None:
        """Append a line and replace the memory file in one step, so that a crash leaves the old or
        the new one.
        """
        waiting = [*self._unwritten, record][-MOST_WAITING:]
        self._unwritten = [] if self._may_write() else waiting
        if self._unwritten:
            return
        # The records before the memory: after a crash between the two a tick is decided twice, not
        # lost.
        for kept in waiting:
            self._write(kept)
        self._disk.write(str(self.folder / MEMORY_FILE), memory_text(memory))

    def _write(self, record: Record) -> None:
        line = to_line(record) + "\n"
        name = self._segment(len(line), record.t_s)
        self._disk.append(str(self.folder / name), line)  # ASCII: as many bytes as characters
        self._records, self._bytes = self._records + 1, self._bytes + len(line)
        self._summary.add(record, name, self._bytes)

    def note(self, event: Event) -> None:
        """Keep a start, its end, or the checkpoints of its queries."""
        append_event(self.folder, event)
        if isinstance(event, Start):
            self._summary.note(event)

    def halted(self) -> str:
        """Return the kill switch that is set, empty where none is. One in the journal's folder
        halts a second writer, too: nobody needs to know which folder a driver writes.
        """
        for switch in dict.fromkeys((self.stop_file, self._root / STOP_FILE)):
            if switch.exists():
                return str(switch)
        return self.other_switch() if self.other_switch else ""

    def close(self) -> None:
        """Close the segment that is written, and leave the journal to other writers."""
        self._close_segment()
        if self._claim:
            self._claim.release()

    def _may_write(self) -> bool:
        if self._claim is None:
            return True
        before = self._claim.place
        held = self._claim.held()
        if not held:
            # Another writer may begin newer segments and a summary: neither must be overwritten.
            self._segment_name = ""
        if self._claim.place != before:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._summary = SummaryWriter(self.folder)
            _log.warning("rheostat: the journal is now %s: %s", self.folder, self._claim.why)
        return held

    def _close_segment(self) -> None:
        if self._segment_name:
            self._segment_name = ""
            self._summary.write()

    def _segment(self, more_bytes: int, now: float) -> str:
        full = (
            self._records >= self._records_per_segment
            or self._bytes + more_bytes > self._retention.segment_bytes
        )
        if not self._segment_name:
            # Before anything is pruned: what goes then must have been added up.
            self._summary.begin()
        if not self._segment_name or full:
            self._close_segment()
            # Only with a new segment, not at each tick: somebody else's file is there from the
            # start or not.
            _set_aside(self.folder / MEMORY_FILE)
            prune(self.folder, self._retention, now)
            # Old segments may have been deleted: never write into one that another run began.
            numbers = (int(path.stem.rpartition("-")[2]) + 1 for path in _numbered(self.folder))
            self._segments = max(self._segments, *numbers, 0)
            self._segment_name = f"segment-{self._segments:05d}.jsonl"
            self._segments, self._records, self._bytes = self._segments + 1, 0, 0
        return self._segment_name


def memory_text(memory: Memory) -> str:
    """Return a memory as the text of its file."""
    return json.dumps({"schema": _MEMORY_SCHEMA, "records": SCHEMA, "memory": memory})


def require_known_schema(place: object, text: str | None) -> None:
    """Raise BadInput where the text of a journal's memory or of one record was written by a newer
    version of Rheostat; ``place`` names the journal.
    """
    try:
        content = json.loads(text or "{}")
    except ValueError:
        return
    if not isinstance(content, dict):
        return
    for schema, known in (("schema", max(SCHEMA, _MEMORY_SCHEMA)), ("records", SCHEMA)):
        written = content.get(schema, 0)
        if isinstance(written, int) and written > known:
            raise BadInput(
                f"the journal {place} was written by a newer version of Rheostat (schema {written};"
                f" this one knows {known}); upgrade, or name another folder"
            )


def require_known_folder(folder: Path) -> None:
    """Raise BadInput where the newest file of a journal's folder is of a newer version."""
    for path in (folder / MEMORY_FILE, *segments(folder)[-1:]):
        with suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
            first_line = file.readline()
            require_known_schema(folder, first_line)


def memory_in(text: str) -> Memory | None:
    """Return the memory of a file's text; None where it is cut off or of another schema."""
    try:
        read = json.loads(text)
    except ValueError:
        return None
    right = isinstance(read, dict) and read.get("schema") == _MEMORY_SCHEMA
    memory = read.get("memory") if right else None
    return memory if isinstance(memory, dict) else None


class MemoryJournal:
    """The in-memory twin: a list of records and a switch, for tests and simulations."""

    def __init__(self, memory: Memory | None = None) -> None:
        self.records: list[Record] = []
        self.memory: Memory = memory or {}
        self.stopped = False

    def restore(self) -> Memory:
        """Return the memory that was given or kept last."""
        return self.memory

    def append(self, record: Record, memory: Memory) -> None:
        """Keep both."""
        self.records.append(record)
        self.memory = memory

    def halted(self) -> str:
        """Return a cause if ``stopped`` was set."""
        return STOP_FILE if self.stopped else ""


def erase(folder: Path) -> None:
    """Delete a journal's own files, and its folder if nothing else is in it; a kill switch and what
    others have put there stay.
    """
    kept = folder / MEMORY_FILE
    for other in folder.glob(f"{OTHER_WRITER}*/"):
        erase(other)
    for path in (folder / LEASE_FILE, *folder.glob(f".*{TEMPORARY}")):
        path.unlink(missing_ok=True)
    # Files of others may have such names: only what begins with a record of ours is deleted.
    written = filter(is_segment, [*changes_files(folder), *segments(folder)])
    for path in [*written, *([kept] if _is_memory(kept) else [])]:
        path.unlink()
    for name in (STARTS_FILE, SUMMARY_FILE):
        if is_segment(folder / name):  # it has a schema, as a segment's first line has
            (folder / name).unlink()
    with suppress(OSError):
        folder.rmdir()


def erase_old(place: Path, before_s: float) -> None:
    """Erase the journals of the folders in ``place`` into which nothing was written since a Unix
    time: those of applications that ended long ago.
    """
    for folder in place.glob("*/"):
        files = (*folder.glob("*"), *folder.glob(f"{OTHER_WRITER}*/*"))
        written = [path.stat().st_mtime for path in files if path.is_file()]
        # An empty folder is left alone: an application may just have made it.
        if max(written, default=before_s) < before_s:
            erase(folder)


def _numbered(folder: Path) -> list[Path]:
    return [*changes_files(folder), *segments(folder)]


def _set_aside(path: Path) -> None:
    """Give another name to a memory that we have not written, so that ours does not replace it."""
    if path.exists() and path.stat().st_size and not _is_memory(path):
        names = (path.with_name(f"{path.name}.not-ours-{number}") for number in count())
        other = next(name for name in names if not name.exists())
        path.rename(other)
        _log.warning("rheostat: %s was not written by Rheostat; it is %s now", path, other.name)


def _is_memory(path: Path) -> bool:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(read, dict) and {"schema", "memory"} <= read.keys()


def read(folder: Path) -> Iterator[Record]:
    """Yield all complete records of a journal."""
    return (record for _, record in records_from(folder, Place()))
