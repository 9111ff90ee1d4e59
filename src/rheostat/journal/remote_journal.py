"""A journal that outlives its driver's machine: written to a local folder and copied to one on
another file system by a separate call, so that no tick waits for it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rheostat.config import JournalOptions
from rheostat.journal.claim import Claim
from rheostat.journal.folder import (
    MEMORY_FILE,
    MOST_WAITING,
    FolderJournal,
    memory_in,
    memory_of,
    memory_text,
)
from rheostat.journal.record import read_line, to_line
from rheostat.journal.retention import Retention, segments, sizes_and_halt
from rheostat.journal.starts import STARTS_FILE, STOP_FILE
from rheostat.journal.summary import SUMMARY_FILE, moved
from rheostat.model import Memory, Observation, Record
from rheostat.storage.file_system import FileStatus, FileSystem, moves_in_one_step

_MOST_RECORDS = 1000
_TAIL_BYTES = 2 * 1024**2
_NEWEST_JOURNALS = 50

_log = logging.getLogger("rheostat")
_SEGMENT = "segment-"


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The size in force at the last record, its time, and the observations up to then."""

    size: int | None
    t_s: float
    observations: tuple[Observation, ...]


def last_run(segments_backwards: Iterable[str], before_s: float) -> LastRun | None:
    """Return the end of the last run before a Unix time, from the texts of a journal's segments,
    newest first; None if there is no such record.
    """
    records = _newest(segments_backwards, before_s)
    if not records:
        return None
    observations = tuple(record.observation for record in records if record.observation)
    sizes = map(_size_in_force, records)
    size = next((size for size in sizes if size is not None), None)
    return LastRun(size=size, t_s=records[0].t_s, observations=observations)


def _size_in_force(record: Record) -> int | None:
    """Return a record's size; a size that was only advised was never in force."""
    if record.rescaling.phase != "advised":
        return record.target
    return record.observation.executors if record.observation else None


def tails(folder: Path) -> Iterator[str]:
    """Yield the ends of a local journal's segments, newest first."""
    for path in reversed(segments(folder)):
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            yield file.read().decode("utf-8", errors="replace")


def journal_of_command(place: Path, command: Sequence[str]) -> Path | None:
    """Return the newest journal below ``place`` whose application was started by this command; None
    if there is none.
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


def _changed_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another application may be erasing it
        return 0.0


class RemoteJournal(FolderJournal):
    """Stores everything in a local folder; ``carry`` copies it to the folder ``uri`` of ``files``,
    if the claims on both permit.

    A restart resumes from the remote memory. ``STOP`` in either folder is the kill switch. Remote
    segments are deleted as complete files, by size and age.
    """

    def __init__(
        self,
        folder: Path,
        files: FileSystem,
        uri: str,
        options: JournalOptions | None = None,
        claim: Claim | None = None,
        far_claim: Claim | None = None,
    ) -> None:
        super().__init__(folder, options=options, claim=claim)
        self._files = files
        self._far_root = uri.rstrip("/")
        self._far_claim = far_claim
        self._far = self._far_place()
        self._kept = Retention.of(options or JournalOptions())
        self._lock = threading.Lock()
        self._waiting: list[str] = []
        self._last: tuple[Memory, float] = ({}, 0.0)
        self._far_segment: str | None = None
        self._far_bytes = 0
        self._far_stop = ""
        self._is_retry = False
        self._shown: object = None
        self._decided = False
        self._carried: dict[str, str] = {}

    @property
    def kept_at(self) -> str:
        """The remote folder."""
        return self._far

    def restore(self) -> Memory:
        """Return the memory of the remote folder; the local one if that is absent or unreadable."""
        with suppress(OSError):
            self._fetch_metadata()
            memory = memory_in(self._far_text(MEMORY_FILE) or "")
            if memory is not None:
                return memory
        return super().restore()

    def _fetch_metadata(self) -> None:
        """Copy the starts and the summary from the remote folder unless local ones exist."""
        for name in (STARTS_FILE, SUMMARY_FILE):
            text = None if (self.folder / name).exists() else self._far_text(name)
            if text:
                # Local segments have new numbers, so the summary covers none of them.
                here = moved(text, "") if name == SUMMARY_FILE else text
                (self.folder / name).write_text(here, encoding="utf-8")

    def segments_backwards(self) -> Iterator[str]:
        """Yield the texts of the remote segments, newest first; raises StorageError."""
        for name in sorted(self._far_segments(), reverse=True):
            yield self._far_text(name) or ""

    def append(self, record: Record, memory: Memory) -> None:
        """Write both locally; ``carry`` copies them to the remote folder."""
        super().append(record, memory)
        shown = sizes_and_halt(record)
        with self._lock:
            self._waiting = [*self._waiting, to_line(record) + "\n"][-MOST_WAITING:]
            self._last = memory, record.t_s
            self._decided |= shown != self._shown
            self._shown = shown

    def halted(self) -> str:
        """Return the kill switch that is set; the remote one as of the last ``carry``."""
        return super().halted() or self._far_stop

    def decided(self) -> bool:
        """Return whether a record waits in which size, target or kill switch changed."""
        return self._decided

    def carry(self) -> None:
        """Copy new records to the remote folder, and check its kill switch.

        Raises StorageError if it is unreachable; the next call copies the remaining records.
        """
        stops = dict.fromkeys(f"{far}/{STOP_FILE}" for far in (self._far, self._far_root))
        pulled = (stop for stop in stops if self._files.read_text(stop) is not None)
        self._far_stop = next(pulled, "")
        with self._lock:
            lines, (memory, now) = list(self._waiting), self._last
        if not lines or not self._may_write_far():
            return
        text = "".join(lines)
        try:
            self._files.append(f"{self._far}/{self._segment_for(len(text), now)}", text)
        except OSError:
            # Whether the lines have arrived is unknown. An object is rewritten as a whole, so
            # the next try replaces them; elsewhere the next segment is new.
            self._is_retry = not moves_in_one_step(self._far)
            if not self._is_retry:
                self._far_segment = None
            raise
        self._is_retry = False
        self._far_bytes += len(text)
        with self._lock:
            del self._waiting[: len(lines)]
            self._decided = self._decided and bool(self._waiting)
        self._files.write(f"{self._far}/{MEMORY_FILE}", memory_text(memory))
        self._copy_metadata()

    def _copy_metadata(self) -> None:
        """Copy starts and summary to the remote folder if they have changed."""
        for name in (STARTS_FILE, SUMMARY_FILE):
            try:
                text = (self.folder / name).read_text(encoding="utf-8")
            except OSError:
                continue
            if name == SUMMARY_FILE:
                # Remote segments have their own numbers; the summary covers at least those before
                # this one.
                text = moved(text, self._far_segment or "")
            if text != self._carried.get(name):
                self._files.write(f"{self._far}/{name}", text)
                self._carried[name] = text

    def end(self) -> None:
        """Copy the remaining records, and finish the remote segment."""
        try:
            self.carry()
            self._close_segment()
            if self._may_write_far():
                self._copy_metadata()
        finally:
            self._files.close()
            if self._far_claim:
                self._far_claim.release()

    def _far_place(self) -> str:
        place = self._far_claim.place if self._far_claim else ""
        return f"{self._far_root}/{place}" if place else self._far_root

    def _far_text(self, name: str) -> str | None:
        return self._files.read_text(f"{self._far}/{name}")

    def _far_segments(self) -> dict[str, FileStatus]:
        below = self._files.files_below(self._far)
        return {name: status for name, status in below.items() if name.startswith(_SEGMENT)}

    def _may_write_far(self) -> bool:
        if self._far_claim is None:
            return True
        before = self._far_claim.place
        held = self._far_claim.held()
        if self._far_claim.place != before:
            self._far = self._far_place()
            _log.warning(
                "rheostat: the journal is kept in %s: %s", self.kept_at, self._far_claim.why
            )
        if not held or self._far_claim.place != before:
            self._far_segment = None  # another writer may have begun newer segments
        return held

    def _segment_for(self, more_bytes: int, now: float) -> str:
        most = min(self._kept.segment_bytes, self._files.append_limit_bytes)
        is_full = self._far_bytes + more_bytes > most and not self._is_retry
        if self._far_segment is None or is_full:
            remote_segments = self._far_segments()
            self._prune(remote_segments, now)
            numbers = [int(name[len(_SEGMENT) :].partition(".")[0]) for name in remote_segments]
            self._far_segment = f"{_SEGMENT}{max(numbers, default=-1) + 1:05d}.jsonl"
            self._far_bytes = 0
        return self._far_segment

    def _prune(self, remote_segments: dict[str, FileStatus], now: float) -> None:
        left = sum(segment.bytes for segment in remote_segments.values())
        for name, segment in sorted(remote_segments.items()):
            if left <= self._kept.segments_bytes and segment.changed_s >= now - self._kept.most_s:
                return
            self._files.delete(f"{self._far}/{name}")
            left -= segment.bytes
