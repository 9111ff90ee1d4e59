"""The backlog of a Delta table: the files that its log has added after an offset.

The log is JSON lines in ``_delta_log/00000000000000000012.json`` (Delta's ``PROTOCOL.md``), read
through the port ``FileSystem``: with the credentials of the job, wherever its table is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rheostat.sources.backlog_reader import Amount, Backlog, BacklogReader, Source
from rheostat.storage.file_system import FileSystem

Position: TypeAlias = tuple[int, float]
"""Version and index of a file; those of an offset, up to which everything was read."""


_VERSIONS_KEPT = 1000
"""Versions before the last batch that are kept, because that batch may have read them."""


@dataclass(frozen=True, slots=True)
class AddedFile:
    """One file that a version added; ``rows`` is None without statistics."""

    bytes: int
    rows: int | None


Snapshot: TypeAlias = Callable[[str, int], Sequence[AddedFile]]
"""Returns the files of a table at a version, in the order in which Delta streams them."""


def snapshot_files(table: str, version: int) -> list[AddedFile]:
    """Return the files of a table at a version by modification time and path (``deltalake``)."""
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise LookupError(
            "a stream that starts with the existing rows of a table needs the package deltalake"
            " (extra: delta)"
        ) from None
    added = DeltaTable(table, version=version).get_add_actions(flatten=True)
    columns = {name: added[name].to_pylist() for name in added.schema.names}
    counts = columns.get("num_records", [None] * added.num_rows)
    order = zip(
        columns["modification_time"], columns["path"], columns["size_bytes"], counts, strict=True
    )
    return [AddedFile(bytes=size, rows=rows) for _, _, size, rows in sorted(order)]


class DeltaBacklog(BacklogReader):
    """Counts the rows of the added files of ``table``; bytes once a file has no statistics.

    Each call looks for one new version, and reads those that follow it at once.
    """

    def __init__(self, files: FileSystem, table: str, snapshot: Snapshot = snapshot_files) -> None:
        self._files = files
        self._table = table
        self._snapshot = snapshot
        self._added: dict[Position, AddedFile] = {}
        self._next: int | None = None
        """The next version that is read from the log."""
        self._in_rows = True

    def backlog(self, source: Source, now: float) -> Backlog | None:
        """Return what was added after the last finished batch."""
        end = source.get("endOffset")
        position = _position(end)
        if end is None or position is None:
            return None
        if self._next is None:
            self._begin(end, position[0])
        while self._read_version():
            pass
        self._drop_before(position[0] - _VERSIONS_KEPT)
        return Backlog(now, self._amount(position, (math.inf, math.inf)))

    def between(self, start: Any, end: Any) -> Amount | None:
        """Return what was added between two offsets; None where the log was not read that far."""
        first, last = _position(start), _position(end)
        known_from = min(self._added, default=None)
        if first is None or last is None or known_from is None or first < known_from:
            return None
        return self._amount(first, last)

    def _amount(self, after: tuple[float, float], until: tuple[float, float]) -> Amount:
        added = [file for at, file in self._added.items() if after < at <= until]
        if self._in_rows:
            return Amount(sum(file.rows or 0 for file in added), "rows")
        return Amount(sum(file.bytes for file in added), "bytes")

    def _begin(self, offset: Mapping[str, Any], version: int) -> None:
        """Read what the version of the first offset added, or the whole table at it."""
        if offset.get("isInitialSnapshot", offset.get("isStartingVersion", False)):
            self._keep(version, self._snapshot(self._table, version))
            self._next = version + 1
            return
        log = self._files.names(f"{self._table}/_delta_log")
        versions = [int(name[:20]) for name in log if _is_commit(name)]
        # An offset names the version that comes next where it has read all there was.
        if not versions or not min(versions) <= version <= max(versions) + 1:
            raise LookupError(f"the log of {self._table} no longer has version {version}")
        self._next = version

    def _read_version(self) -> bool:
        name = f"{self._table}/_delta_log/{self._next:020d}.json"
        text = self._files.read_text(name)
        if text is None or self._next is None:
            return False
        actions = (json.loads(line) for line in text.splitlines())
        adds = [action["add"] for action in actions if action.get("add")]
        self._keep(self._next, [_file(add) for add in adds if add.get("dataChange", True)])
        self._next += 1
        return True

    def _drop_before(self, version: int) -> None:
        # Versions were added in their order, so the first key is the oldest.
        while self._added and (oldest := next(iter(self._added)))[0] < version:
            del self._added[oldest]

    def _keep(self, version: int, added: Sequence[AddedFile]) -> None:
        self._in_rows = self._in_rows and all(file.rows is not None for file in added)
        # A position before the first file, so that it shows from where the log is known.
        self._added[version, -math.inf] = AddedFile(0, 0)
        self._added |= {(version, float(index)): file for index, file in enumerate(added)}


def _position(offset: Any) -> Position | None:
    if not isinstance(offset, Mapping):
        return None
    return int(offset["reservoirVersion"]), float(offset["index"])


def _is_commit(name: str) -> bool:
    return len(name) == 25 and name.endswith(".json") and name[:20].isdecimal()


def _file(add: Mapping[str, Any]) -> AddedFile:
    """Return an added file; statistics are JSON in a text."""
    stats = add.get("stats")
    rows = json.loads(stats).get("numRecords") if stats else None
    return AddedFile(int(add["size"]), None if rows is None else int(rows))
