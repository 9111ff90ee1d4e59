"""A journal that outlives the computer of its driver: kept in a local folder and brought to one on
another file system, by a call of its own, so that no tick waits for that.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from rheostat.config import JournalOptions
from rheostat.journal.claim import LEASE_FILE, Claim
from rheostat.journal.folder import (
    MEMORY_FILE,
    MOST_WAITING,
    FolderJournal,
    memory_in,
    memory_text,
)
from rheostat.journal.record import to_line
from rheostat.journal.retention import Retention
from rheostat.journal.starts import STARTS_FILE, STOP_FILE
from rheostat.journal.summary import SUMMARY_FILE, moved
from rheostat.model import Memory, Record

_log = logging.getLogger("rheostat")
_SEGMENT = "segment-"
NEW = ".new"
"""What a file is called, after its own name, while it replaces one that is there."""


class FarFolder(Protocol):
    """A folder on another file system; every call raises OSError with what that says."""

    @property
    def uri(self) -> str:
        """Its name."""
        ...

    @property
    def most_bytes(self) -> int:
        """The size from which a file is too large to be extended."""
        ...

    def sizes(self) -> dict[str, tuple[int, float]]:
        """Return the bytes of each file and the Unix time of its last change."""
        ...

    def text(self, name: str) -> str | None:
        """Return a file's text; None where there is none."""
        ...

    def write(self, name: str, text: str) -> None:
        """Write a file as a whole: who reads it sees this one or the one before; one that was cut
        off may have left it as ``NAME.new`` only.
        """
        ...

    def extend(self, name: str, text: str) -> None:
        """Append to the file that was begun last, or begin another one."""
        ...

    def create(self, name: str, text: str) -> bool:
        """Write a file that is not there; False, with nothing changed, where there is one."""
        ...

    def touch(self, name: str, text: str) -> None:
        """Set the time of a file's last change to now; ``text`` is what it holds."""
        ...

    def delete(self, name: str) -> None:
        """Delete a file."""
        ...

    def inside(self, name: str) -> FarFolder:
        """Return a folder within this one."""
        ...

    def close(self) -> None:
        """End the file that was begun last."""
        ...


class FarLeaseFile:
    """The file of a lease in a folder on another file system."""

    def __init__(self, folder: FarFolder) -> None:
        self._folder = folder

    def text(self) -> str | None:
        """Return its text; None where there is none."""
        return self._folder.text(LEASE_FILE)

    def changed_s(self) -> float:
        """Return the Unix time of its last change."""
        return self._folder.sizes().get(LEASE_FILE, (0, 0.0))[1]

    def create(self, text: str) -> bool:
        """Write it; False, with nothing changed, where there is one."""
        return self._folder.create(LEASE_FILE, text)

    def touch(self, text: str) -> None:
        """Set the time of its last change to now."""
        self._folder.touch(LEASE_FILE, text)

    def remove(self) -> None:
        """Delete it; nothing where there is none."""
        if self.text() is not None:
            self._folder.delete(LEASE_FILE)


class RemoteJournal(FolderJournal):
    """Keeps everything in a local folder, and ``carry`` brings it to ``far``, as far as the claims
    on both allow.

    The memory that a restart resumes from is the far one; ``STOP`` in either folder is the kill
    switch. Far segments go by size and age as whole files.
    """

    def __init__(
        self,
        folder: Path,
        far: FarFolder,
        options: JournalOptions | None = None,
        claim: Claim | None = None,
        far_claim: Claim | None = None,
    ) -> None:
        super().__init__(folder, options=options, claim=claim)
        self._far_root = far
        self._far_claim = far_claim
        self._far = self._far_place()
        self._kept = Retention.of(options or JournalOptions())
        self._lock = threading.Lock()
        self._waiting: list[str] = []
        self._last: tuple[Memory, float] = ({}, 0.0)
        self._segment_name: str | None = None
        self._far_bytes = 0
        self._far_stop = ""
        self._carried: dict[str, str] = {}

    @property
    def kept_at(self) -> str:
        """The far folder."""
        return self._far.uri

    def restore(self) -> Memory:
        """Return the memory that was brought to the far folder last; the one here where that cannot
        be read or has none.
        """
        with suppress(OSError):
            self._fetch_beside()
            for name in (MEMORY_FILE, MEMORY_FILE + NEW):
                text = self._far.text(name)
                if text and (memory := memory_in(text)) is not None:
                    return memory
        return super().restore()

    def _fetch_beside(self) -> None:
        """Go on with the starts and the summary of the far folder where there are none here."""
        for name in (STARTS_FILE, SUMMARY_FILE):
            text = None if (self.folder / name).exists() else self._far.text(name)
            if text:
                # Segments here begin anew, so that all of them come after those of the far folder.
                here = moved(text, "") if name == SUMMARY_FILE else text
                (self.folder / name).write_text(here, encoding="utf-8")

    def segments_backwards(self) -> Iterator[str]:
        """Yield the texts of the segments in the far folder, newest first; raises OSError."""
        names = (name for name in self._far.sizes() if name.startswith(_SEGMENT))
        for name in sorted(names, reverse=True):
            yield self._far.text(name) or ""

    def append(self, record: Record, memory: Memory) -> None:
        """Keep both here; they wait to be carried."""
        super().append(record, memory)
        with self._lock:
            self._waiting = [*self._waiting, to_line(record) + "\n"][-MOST_WAITING:]
            self._last = memory, record.t_s

    def halted(self) -> str:
        """Return the kill switch that is there: the far one as of the last ``carry``."""
        return super().halted() or self._far_stop

    def carry(self) -> None:
        """Bring what waits to the far folder, and look for the kill switch there.

        Raises OSError where it cannot be reached; what waits is brought by the next call.
        """
        folders = dict.fromkeys((self._far, self._far_root))
        stops = (folder.uri for folder in folders if folder.text(STOP_FILE) is not None)
        self._far_stop = next((f"{uri}/{STOP_FILE}" for uri in stops), "")
        with self._lock:
            lines, (memory, now) = list(self._waiting), self._last
        if not lines or not self._may_write_far():
            return
        text = "".join(lines)
        try:
            self._far.extend(self._segment_for(len(text), now), text)
        except OSError:
            self._segment_name = None  # what has become of it is unknown: the next one is new
            raise
        self._far_bytes += len(text)
        with self._lock:
            del self._waiting[: len(lines)]
        self._far.write(MEMORY_FILE, memory_text(memory))
        self._carry_beside()

    def _carry_beside(self) -> None:
        """Bring starts and summary to the far folder, where they have changed."""
        for name in (STARTS_FILE, SUMMARY_FILE):
            try:
                text = (self.folder / name).read_text(encoding="utf-8")
            except OSError:
                continue
            if name == SUMMARY_FILE:
                # Far segments have numbers of their own; it holds at least up to this one.
                text = moved(text, self._segment_name or "")
            if text != self._carried.get(name):
                self._far.write(name, text)
                self._carried[name] = text

    def end(self) -> None:
        """Carry what is left, and end the far segment."""
        try:
            self.carry()
            self._close_segment()
            if self._may_write_far():
                self._carry_beside()
        finally:
            self._far.close()
            if self._far_claim:
                self._far_claim.release()

    def _far_place(self) -> FarFolder:
        place = self._far_claim.place if self._far_claim else ""
        return self._far_root.inside(place) if place else self._far_root

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
            self._segment_name = None  # another writer may have begun newer segments
        return held

    def _segment_for(self, more_bytes: int, now: float) -> str:
        most = min(self._kept.segment_bytes, self._far.most_bytes)
        if self._segment_name is None or self._far_bytes + more_bytes > most:
            there = {n: at for n, at in self._far.sizes().items() if n.startswith(_SEGMENT)}
            self._prune(there, now)
            numbers = [int(name[len(_SEGMENT) :].partition(".")[0]) for name in there]
            self._segment_name = f"{_SEGMENT}{max(numbers, default=-1) + 1:05d}.jsonl"
            self._far_bytes = 0
        return self._segment_name

    def _prune(self, there: dict[str, tuple[int, float]], now: float) -> None:
        left = sum(size for size, _ in there.values())
        for name in sorted(there):
            size, changed_s = there[name]
            if left <= self._kept.segments_bytes and changed_s >= now - self._kept.most_s:
                return
            self._far.delete(name)
            left -= size
