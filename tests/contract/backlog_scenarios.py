"""An appendable and readable source of each kind, for the contract of backlog readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

from rheostat.sources.backlog_reader import BacklogReader
from rheostat.sources.delta_backlog import DeltaBacklog
from rheostat.sources.file_backlog import FileBacklog
from rheostat.sources.iceberg_backlog import IcebergBacklog, Snapshot
from rheostat.sources.reported_backlog import ReportedBacklog
from rheostat.storage.local_files import LocalFileSystem

ROW_BYTES = 10


class Scenario(Protocol):
    """A source with rows of ``units_per_row`` units each."""

    reader: BacklogReader
    units_per_row: int

    def append(self, rows: int) -> None:
        """Append rows as one file, version or range of offsets."""

    def read_all(self) -> Any:
        """Read everything in one batch and return its end offset."""

    def entry(self, end: Any) -> dict[str, Any]:
        """Return the source's entry in the progress event of a batch that ended at ``end``."""


class Files:
    units_per_row = ROW_BYTES

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder / "in put", folder / "sources" / "0"
        for made in (self.folder, self.log):
            made.mkdir(parents=True)
        self.names: list[Path] = []
        self.entries: list[list[Path]] = []
        self.reader = FileBacklog(LocalFileSystem(), f"file:{self.folder}", f"{self.log}")

    def append(self, rows: int) -> None:
        path = self.folder / f"part {len(self.names)}.json"
        path.write_text("123456789\n" * rows)
        self.names.append(path)

    def read_all(self) -> Any:
        known = [path for entry in self.entries for path in entry]
        self.entries.append([path for path in self.names if path not in known])
        number = len(self.entries) - 1
        # As in CompactibleFileStreamLog, every third entry here contains all previous ones.
        compacts = number % 3 == 2
        held = range(number + 1) if compacts else [number]
        lines = [
            json.dumps({"path": path.as_uri(), "timestamp": 1, "batchId": entry})
            for entry in held
            for path in self.entries[entry]
        ]
        name = f"{number}.compact" if compacts else f"{number}"
        (self.log / name).write_text("\n".join(["v1", *lines]))
        return {"logOffset": number}

    def entry(self, end: Any) -> dict[str, Any]:
        return {"endOffset": end}


class Iceberg:
    units_per_row = 1

    def __init__(self, folder: Path) -> None:
        self.snapshots: dict[int, Snapshot] = {}
        self.reader = IcebergBacklog(self)

    def newest(self) -> int | None:
        return max(self.snapshots, default=None)

    def snapshot(self, number: int) -> Snapshot | None:
        return self.snapshots.get(number)

    def append(self, rows: int, *, appends: bool = True) -> None:
        """Append two files of equal numbers of rows."""
        newest = self.newest()
        before = self.snapshots[newest] if newest else None
        self.snapshots[(newest or 0) + 1] = Snapshot(
            number=(newest or 0) + 1,
            parent=newest,
            appends=appends,
            files=2,
            rows=rows,
            all_files=2 + (before.all_files if before else 0),
            all_rows=rows + ((before.all_rows or 0) if before else 0),
        )

    def read_all(self) -> Any:
        return {"snapshot_id": self.newest(), "position": 2, "scan_all_files": False}

    def entry(self, end: Any) -> dict[str, Any]:
        return {"endOffset": end}


class Delta:
    units_per_row = 1

    def __init__(self, folder: Path) -> None:
        self.table, self.version = folder / "table", 0
        (self.table / "_delta_log").mkdir(parents=True)
        self.reader = DeltaBacklog(LocalFileSystem(), f"file:{self.table}")

    def append(self, rows: int) -> None:
        halves = [rows // 2, rows - rows // 2]
        adds = [
            {"add": {"path": f"{number}", "size": 7, "dataChange": True, "stats": _stats(half)}}
            for number, half in enumerate(halves)
        ]
        text = "\n".join(map(json.dumps, [{"commitInfo": {}}, *adds]))
        (self.table / "_delta_log" / f"{self.version:020d}.json").write_text(text)
        self.version += 1

    def read_all(self) -> Any:
        return {"reservoirId": "x", "reservoirVersion": self.version, "index": -1}

    def entry(self, end: Any) -> dict[str, Any]:
        return {"endOffset": end}


class Reported:
    units_per_row = 1

    def __init__(self, folder: Path) -> None:
        self.offset = 0
        self.reader = ReportedBacklog()

    def append(self, rows: int) -> None:
        self.offset += rows

    def read_all(self) -> Any:
        return {"shard": {"0": self.offset // 2, "1": self.offset - self.offset // 2}}

    def entry(self, end: Any) -> dict[str, Any]:
        return {"endOffset": end, "latestOffset": self.read_all()}


def _stats(rows: int) -> str:
    return json.dumps({"numRecords": rows})
