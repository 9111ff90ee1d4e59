"""A journal in a local folder: append-only segments, next to them the memory, and the kill switch
as a file. ``retention.py`` prunes full segments.
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
"""Maximum number of records kept until they can be written: half a day at the default interval."""


class FolderJournal:
    """Stores records in ``segment-NNNNN.jsonl`` files of a folder; a file named ``STOP`` next to
    them is the kill switch. ``options`` limit the size and age. With a ``claim``, it writes only
    while the claim is held, and to the folder that the claim names.
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
        """Returns the kill switch at another place; None if there is no other place."""
        self._records_per_segment = records_per_segment
        self._retention = Retention.of(options or JournalOptions())
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(
                f"the journal folder {folder} cannot be created: {error.strerror}"
            ) from None
        self._segments = 0
        self._records = self._bytes = 0
        self._segment_name = ""
        self._disk = LocalFileSystem(durable=False)
        self._summary = SummaryWriter(self.folder)

    @property
    def folder(self) -> Path:
        """The folder that this process writes to."""
        return self._root / self._claim.place if self._claim else self._root

    @property
    def stop_file(self) -> Path:
        """The file whose existence is the kill switch."""
        return self.folder / STOP_FILE

    def restore(self) -> Memory:
        """Return the memory stored last; ``{}`` if there is none or it has another schema."""
        return memory_of(self.folder)

    def append(self, record: Record, memory: Memory) -> None:
        """Append a line, and replace the memory atomically: a crash leaves the old or the new."""
        waiting = [*self._unwritten, record][-MOST_WAITING:]
        self._unwritten = [] if self._may_write() else waiting
        if self._unwritten:
            return
        # Records before the memory: a crash in between repeats a tick's decision instead of losing
        # it.
        for kept in waiting:
            self._write(kept)
        self._disk.write(str(self.folder / MEMORY_FILE), memory_text(memory))

    def _write(self, record: Record) -> None:
        line = to_line(record) + "\n"
        name = self._segment(len(line), record.t_s)
        self._disk.append(str(self.folder / name), line)  # ASCII: one byte per character
        self._records, self._bytes = self._records + 1, self._bytes + len(line)
        self._summary.add(record, name, self._bytes)

    def note(self, event: Event) -> None:
        """Store a start, its end, a command, or the checkpoints of the queries."""
        append_event(self.folder, event)
        if isinstance(event, Start):
            self._summary.note(event)

    def halted(self) -> str:
        """Return the kill switch that is set; empty if none is. The one in the journal's folder
        also halts a second writer, so that users need not know which folder a driver writes to.
        """
        for switch in dict.fromkeys((self.stop_file, self._root / STOP_FILE)):
            if switch.exists():
                return str(switch)
        return self.other_switch() if self.other_switch else ""

    def close(self) -> None:
        """Close the current segment and release the journal for other writers."""
        self._close_segment()
        if self._claim:
            self._claim.release()

    def _may_write(self) -> bool:
        if self._claim is None:
            return True
        before = self._claim.place
        held = self._claim.held()
        if not held:
            # Another writer may begin newer segments and a summary, which must not be overwritten.
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
            # Before pruning, because pruned records must have been added to the summary.
            self._summary.begin()
        if not self._segment_name or full:
            self._close_segment()
            # Only with a new segment instead of at each tick: a foreign file exists from the start
            # or not at all.
            _set_aside(self.folder / MEMORY_FILE)
            prune(self.folder, self._retention, now)
            # Old segments may have been deleted: never write to one that another run began.
            files = [*changes_files(self.folder), *segments(self.folder)]
            numbers = (int(path.stem.rpartition("-")[2]) + 1 for path in files)
            self._segments = max(self._segments, *numbers, 0)
            self._segment_name = f"segment-{self._segments:05d}.jsonl"
            self._segments, self._records, self._bytes = self._segments + 1, 0, 0
        return self._segment_name


def memory_text(memory: Memory) -> str:
    """Return a memory as the text of its file."""
    return json.dumps({"schema": _MEMORY_SCHEMA, "records": SCHEMA, "memory": memory})


def require_known_schema(place: object, text: str | None) -> None:
    """Raise BadInput if a newer version of Rheostat wrote the text of a journal's memory or of one
    record; ``place`` names the journal.
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
    """Raise BadInput if a newer version wrote the newest file of a journal's folder."""
    for path in (folder / MEMORY_FILE, *segments(folder)[-1:]):
        with suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
            first_line = file.readline()
            require_known_schema(folder, first_line)


def memory_of(folder: Path) -> Memory:
    """Return the memory of a local journal; ``{}`` if it has none."""
    try:
        return memory_in((folder / MEMORY_FILE).read_text(encoding="utf-8")) or {}
    except (OSError, ValueError):
        return {}


def memory_in(text: str) -> Memory | None:
    """Return the memory in a file's text; None if it is truncated or has another schema."""
    try:
        read = json.loads(text)
    except ValueError:
        return None
    right = isinstance(read, dict) and read.get("schema") == _MEMORY_SCHEMA
    memory = read.get("memory") if right else None
    return memory if isinstance(memory, dict) else None


class MemoryJournal:
    """A journal in memory, as a list of records and a switch, for tests and simulations."""

    def __init__(self, memory: Memory | None = None) -> None:
        self.records: list[Record] = []
        self.memory: Memory = memory or {}
        self.stopped = False

    def restore(self) -> Memory:
        """Return the memory that was given or stored last."""
        return self.memory

    def append(self, record: Record, memory: Memory) -> None:
        """Store the record and the memory."""
        self.records.append(record)
        self.memory = memory

    def halted(self) -> str:
        """Return a cause if ``stopped`` was set."""
        return STOP_FILE if self.stopped else ""


def erase(folder: Path) -> None:
    """Delete a journal's own files, and its folder if empty; other files and ``STOP`` remain."""
    kept = folder / MEMORY_FILE
    for other in folder.glob(f"{OTHER_WRITER}*/"):
        erase(other)
    for path in (folder / LEASE_FILE, *folder.glob(f".*{TEMPORARY}")):
        path.unlink(missing_ok=True)
    # Foreign files may have such names: delete only files that begin with one of our records.
    written = filter(is_segment, [*changes_files(folder), *segments(folder)])
    for path in [*written, *([kept] if _is_memory(kept) else [])]:
        path.unlink()
    for name in (STARTS_FILE, SUMMARY_FILE):
        if is_segment(folder / name):  # it has a schema, like a segment's first line
            (folder / name).unlink()
    with suppress(OSError):
        folder.rmdir()


def erase_old(place: Path, before_s: float) -> None:
    """Erase the journals in the folders of ``place`` that were not written since a Unix time,
    because their applications ended long ago.
    """
    for folder in place.glob("*/"):
        files = (*folder.glob("*"), *folder.glob(f"{OTHER_WRITER}*/*"))
        written = [path.stat().st_mtime for path in files if path.is_file()]
        # An empty folder remains: an application may just have created it.
        if max(written, default=before_s) < before_s:
            erase(folder)


def _set_aside(path: Path) -> None:
    """Rename a memory file that we have not written, so that ours does not replace it."""
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
