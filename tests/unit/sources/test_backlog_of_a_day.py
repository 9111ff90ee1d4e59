"""The backlog of files and of a Delta table is within 5 % of the truth at every tick of a day, with
one listing or one check for new versions per tick: in memory, and on a disk with tables that
``deltalake`` writes.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.sources.backlog_reader import BacklogReader
from rheostat.sources.delta_backlog import DeltaBacklog
from rheostat.sources.file_backlog import FileBacklog
from rheostat.spark.sensing.progress import ReportedBatch, batch_of
from rheostat.spark.sensing.source_tracker import SourceTracker, SourceView
from rheostat.storage.file_system import FileSystem
from rheostat.storage.local_files import LocalFileSystem

DAY_S = 86_400
SHARE = 0.05


class CountingFileSystem:
    """A file system that counts listings of data, and reads of commits that are not there."""

    def __init__(self, files: FileSystem) -> None:
        self.files = files
        self.listings = self.absent = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.files, name)

    def files_below(self, folder: str) -> Any:
        self.listings += folder.endswith("/data")
        return self.files.files_below(folder)

    def read_text(self, name: str) -> str | None:
        text = self.files.read_text(name)
        self.absent += text is None and "_delta_log" in name
        return text


class FileDay:
    """Files of lines of 80 to 120 bytes; processed ones are archived after an hour."""

    def __init__(self, files: Any, chance: random.Random, root: str) -> None:
        self.files, self.chance, self.root = files, chance, root
        data, log = f"{root}/data", f"{root}/log"
        self.reader: BacklogReader = FileBacklog(files, data, log, clock=lambda: 0.0)

    def append(self, number: int, rows: int) -> None:
        lines = ["x" * self.chance.randint(80, 120) for _ in range(rows)]
        self.files.write(f"{self.root}/data/{number}.json", "\n".join(lines))

    def read(self, batch: int, numbers: range) -> tuple[Any, Any]:
        lines = [
            json.dumps(
                {"path": f"file://{self.root}/data/{n}.json", "timestamp": 1, "batchId": batch}
            )
            for n in numbers
        ]
        self.files.write(f"{self.root}/log/{batch}", "\n".join(["v1", *lines]))
        self.files.delete(f"{self.root}/data/{numbers.start - 60}.json")
        return ({"logOffset": batch - 1} if batch else None), {"logOffset": batch}

    def lookups(self) -> Any:
        return self.files.listings


class DeltaDay:
    """A Delta table with one version per tick."""

    def __init__(self, files: Any, chance: random.Random, root: str) -> None:
        self.files, self.root = files, root
        self.reader: BacklogReader = DeltaBacklog(files, f"{root}/table")
        self.at = 0

    def append(self, number: int, rows: int) -> None:
        add = {"path": f"{number}", "size": 9 * rows, "stats": json.dumps({"numRecords": rows})}
        self.files.write(
            f"{self.root}/table/_delta_log/{number:020d}.json", json.dumps({"add": add})
        )

    def read(self, batch: int, numbers: range) -> tuple[Any, Any]:
        start = {"reservoirVersion": self.at, "index": -1} if batch else None
        self.at = numbers.stop
        return start, {"reservoirVersion": self.at, "index": -1}

    def lookups(self) -> Any:
        return self.files.absent


class DeltaTableDay(DeltaDay):
    """A version a tick, of two files each, written by ``deltalake``."""

    opened: Sequence[DeltaTable] = ()

    def append(self, number: int, rows: int) -> None:
        values = {"part": [row % 2 for row in range(rows)], "value": [*range(rows)]}
        table = self.opened[0] if self.opened else f"{self.root}/table"
        write_deltalake(table, pa.table(values), mode="append", partition_by=["part"])
        self.opened = self.opened or [DeltaTable(f"{self.root}/table")]


def event(number: int, start_s: float, source: dict[str, Any]) -> ReportedBatch:
    stamp = datetime.fromtimestamp(start_s, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return batch_of(
        {
            "name": "q",
            "runId": "r",
            "batchId": number,
            "timestamp": stamp,
            "numInputRows": source["numInputRows"],
            "durationMs": {"triggerExecution": 30_000},
            "sources": [source],
            "stateOperators": [],
            "sink": {},
        }
    )


@pytest.mark.parametrize(
    ("kind", "on_disk", "tick_s"),
    [
        (FileDay, False, 60),
        (DeltaDay, False, 60),
        (FileDay, True, 300),
        pytest.param(DeltaTableDay, True, 600, marks=pytest.mark.thorough),
    ],
)
def test_the_backlog_of_a_day_is_within_5_percent_at_every_tick(
    kind: type[FileDay | DeltaDay], on_disk: bool, tick_s: int, tmp_path: Path
) -> None:
    chance = random.Random(7)
    files = CountingFileSystem(LocalFileSystem(durable=False) if on_disk else MemoryFileSystem())
    day = kind(files, chance, str(tmp_path) if on_disk else "")
    tracker = SourceTracker(day.reader)
    rows: list[int] = []
    read = number = ticks = 0
    source: dict[str, Any] = {}
    last: ReportedBatch | None = None
    errors: list[float] = []
    for now in range(0, DAY_S, tick_s):
        rate = 3 + 2 * math.sin(2 * math.pi * now / DAY_S) + chance.random()
        day.append(len(rows), round(rate * 60))
        rows.append(round(rate * 60))
        # Batches fall behind for an hour of every six, and catch up by two files a tick.
        behind = now % 21_600 < 3600
        if not behind or now % (5 * tick_s) == 0:
            taken = range(read, min(read + 2, len(rows)))
            if taken:
                start, end = day.read(number, taken)
                source = {
                    "description": "Source[x]",
                    "startOffset": start,
                    "endOffset": end,
                    "numInputRows": sum(rows[taken.start : taken.stop]),
                }
                last, read, number = event(number, float(now), source), taken.stop, number + 1
        lookups = day.lookups()
        assert last is not None
        view: SourceView = tracker.observe(source, last, float(now))
        assert day.lookups() - lookups <= 1
        truth = sum(rows[read:])
        assert view.lag_rows is not None
        assert (view.lag_rows == 0) == (truth == 0)
        if truth:
            errors.append(abs(view.lag_rows - truth) / truth)
            ticks += 1
    assert ticks > DAY_S / tick_s / 5
    assert max(errors) <= SHARE, f"worst {max(errors):.3f}"
    where = "on disk" if on_disk else "in memory"
    name = f"{kind.__name__} {where}"
    sys.stderr.write(f"{name}: {ticks} ticks with a backlog, worst {max(errors):.4f}\n")
