"""The backlog of Spark's file source: a listing of its folder without what its log has recorded."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import unquote, urlsplit

from rheostat.sources.backlog_reader import Amount, Backlog, BacklogReader, Source
from rheostat.storage.file_system import FileSystem

LISTING_SHARE = 0.05
"""The share of time that listings may take: after one of 0.1 s the next is 2 s later."""

_COMPACT = ".compact"
_ENTRIES_KEPT = 100


@dataclass(eq=False)
class FileBacklog(BacklogReader):
    """Counts the bytes in ``folder`` that the source's ``log`` (in the checkpoint) does not name.

    Folders below it count if they are partitions (``day=1``) or if the source has read from such
    folders. Spark skips names that begin with ``_`` or ``.``.
    """

    files: FileSystem
    folder: str
    log: str
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._bytes: dict[str, int] = {}
        """The files of the last listing, and those read since the one before it."""
        self._entries: dict[int, tuple[str, ...]] = {}
        """The files of the newest entries of the log."""
        self._entry = -1
        """The last entry that is part of ``_read``."""
        self._read: set[str] = set()
        """The files that the log names and the listing still has."""
        self._listed_s: float | None = None
        self._next_s = 0.0

    def backlog(self, source: Source, now: float) -> Backlog | None:
        """Return the bytes of the files that no finished batch has read."""
        end = _entry(source.get("endOffset"))
        if end is None:
            return None
        if self._listed_s is None or now >= self._next_s:
            self._list(now)
        self._read.update(*self._named(self._entry, end))
        self._entry = max(end, self._entry)
        unread = sum(size for name, size in self._bytes.items() if name not in self._read)
        return Backlog(now if self._listed_s is None else self._listed_s, Amount(unread, "bytes"))

    def between(self, start: Any, end: Any) -> Amount | None:
        """Return the bytes of the files in the entries of the log between two offsets."""
        first, last = _entry(start), _entry(end)
        if last is None:
            return None
        names = chain.from_iterable(self._named(-1 if first is None else first, last))
        sizes = [self._size(name) for name in dict.fromkeys(names)]
        known = [size for size in sizes if size is not None]
        return Amount(sum(known), "bytes") if len(known) == len(sizes) else None

    def _list(self, now: float) -> None:
        began_s = self.clock()
        listed = self.files.files_below(self.folder)
        top = _path(self.folder)
        deep = any("/" in below and "=" not in below for below in _below(top, self._read))
        self._bytes = {
            f"{top}/{name}": status.bytes for name, status in listed.items() if _counts(name, deep)
        }
        self._read &= self._bytes.keys()
        self._listed_s = now
        self._next_s = now + (self.clock() - began_s) / LISTING_SHARE

    def _size(self, name: str) -> int | None:
        """Return the bytes of a file; one that arrived after the last listing is looked up."""
        if name not in self._bytes:
            status = self.files.status(name)
            if status is None:
                return None
            self._bytes[name] = status.bytes
        return self._bytes[name]

    def _named(self, after: int, until: int) -> list[tuple[str, ...]]:
        """Return the files of the entries of the log with ``after`` < entry <= ``until``."""
        wanted = range(after + 1, until + 1)
        missing = [entry for entry in wanted if entry not in self._entries]
        if len(missing) > 1:
            self._load([f"{entry}{_COMPACT}" for entry in self._compacted(until)[-1:]])
        for entry in wanted:
            if entry not in self._entries:
                self._entries[entry] = ()
                self._load([f"{entry}", f"{entry}{_COMPACT}"])
        names = [self._entries[entry] for entry in wanted]
        for entry in [entry for entry in self._entries if entry < until - _ENTRIES_KEPT]:
            del self._entries[entry]
        return names

    def _load(self, candidates: list[str]) -> None:
        """Read the first of these files of the log that exists; a compacted one has all entries
        before it.
        """
        read = (self.files.read_text(f"{self.log}/{name}") for name in candidates)
        text = next((text for text in read if text is not None), "")
        entries: dict[int, tuple[str, ...]] = {}
        for line in map(json.loads, text.splitlines()[1:]):
            number = int(line["batchId"])
            entries[number] = (*entries.get(number, ()), _path(str(line["path"])))
        self._entries |= entries

    def _compacted(self, until: int) -> list[int]:
        names = self.files.names(self.log)
        ends = (name.removesuffix(_COMPACT) for name in names if name.endswith(_COMPACT))
        return sorted(int(end) for end in ends if end.isdecimal() and int(end) <= until)


def _entry(offset: Any) -> int | None:
    """Return the entry of the log that an offset names."""
    return int(offset["logOffset"]) if isinstance(offset, Mapping) else None


def _path(name: str) -> str:
    """Return the path of a name without scheme and host; Spark's log escapes it as in URLs."""
    return unquote(urlsplit(name).path).rstrip("/")


def _below(top: str, paths: Iterable[str]) -> Iterator[str]:
    return (path[len(top) + 1 :] for path in paths)


def _counts(name: str, deep: bool) -> bool:
    *folders, file = name.split("/")
    return not file.startswith(("_", ".")) and (deep or all("=" in folder for folder in folders))
