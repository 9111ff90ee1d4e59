"""The backlog of files and of a Delta table is within 5 % of the truth at every tick of a day, with
one listing or one check for new versions per tick.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.sources.backlog_reader import BacklogReader
from rheostat.sources.delta_backlog import DeltaBacklog
from rheostat.sources.file_backlog import FileBacklog
from rheostat.spark.sensing.queries.progress import ReportedBatch, batch_of
from rheostat.spark.sensing.source_tracker import SourceTracker, SourceView

DAY_S, TICK_S, ARRIVAL_S = 86_400, 60, 60
SHARE = 0.05


class CountedFiles(MemoryFileSystem):
    """Counts listings of data, and reads of commits."""

    def __init__(self) -> None:
        super().__init__()
        self.listings = self.absent = 0

    def files_below(self, folder: str) -> Any:
        self.listings += folder == "/data"
        return super().files_below(folder)

    def read_text(self, name: str) -> str | None:
        text = super().read_text(name)
        self.absent += text is None and "_delta_log" in name
        return text


class FileDay:
    """Files of lines of 80 to 120 bytes; processed ones are archived after an hour."""

    def __init__(self, files: CountedFiles, chance: random.Random) -> None:
        self.files, self.chance = files, chance
        self.reader: BacklogReader = FileBacklog(files, "/data", "/log", clock=lambda: 0.0)

    def append(self, number: int, rows: int) -> None:
        lines = ["x" * self.chance.randint(80, 120) for _ in range(rows)]
        self.files.write(f"/data/{number}.json", "\n".join(lines))

    def read(self, batch: int, numbers: range) -> tuple[Any, Any]:
        lines = [
            json.dumps({"path": f"file:///data/{n}.json", "timestamp": 1, "batchId": batch})
            for n in numbers
        ]
        self.files.write(f"/log/{batch}", "\n".join(["v1", *lines]))
        self.files.delete(f"/data/{numbers.start - 60}.json")
        return ({"logOffset": batch - 1} if batch else None), {"logOffset": batch}

    def looks(self) -> int:
        return self.files.listings


class DeltaDay:
    """A Delta table with one version per minute."""

    def __init__(self, files: CountedFiles, chance: random.Random) -> None:
        self.files = files
        self.reader: BacklogReader = DeltaBacklog(files, "/table")
        self.at = 0

    def append(self, number: int, rows: int) -> None:
        add = {"path": f"{number}", "size": 9 * rows, "stats": json.dumps({"numRecords": rows})}
        self.files.write(f"/table/_delta_log/{number:020d}.json", json.dumps({"add": add}))

    def read(self, batch: int, numbers: range) -> tuple[Any, Any]:
        start = {"reservoirVersion": self.at, "index": -1} if batch else None
        self.at = numbers.stop
        return start, {"reservoirVersion": self.at, "index": -1}

    def looks(self) -> int:
        return self.files.absent


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


@pytest.mark.parametrize("kind", [FileDay, DeltaDay])
def test_the_backlog_of_a_day_is_within_5_percent_at_every_tick(
    kind: Callable[[CountedFiles, random.Random], FileDay | DeltaDay],
) -> None:
    chance, files = random.Random(7), CountedFiles()
    day = kind(files, chance)
    tracker = SourceTracker(day.reader)
    rows: list[int] = []
    read = number = ticks = 0
    source: dict[str, Any] = {}
    last: ReportedBatch | None = None
    errors: list[float] = []
    for now in range(0, DAY_S, TICK_S):
        rate = 3 + 2 * math.sin(2 * math.pi * now / DAY_S) + chance.random()
        day.append(len(rows), round(rate * ARRIVAL_S))
        rows.append(round(rate * ARRIVAL_S))
        # Batches fall behind for an hour of every six, and catch up by two files per minute.
        behind = now % 21_600 < 3600
        if not behind or now % 300 == 0:
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
        looks = day.looks()
        assert last is not None
        view: SourceView = tracker.observe(source, last, float(now))
        assert day.looks() - looks <= 1
        truth = sum(rows[read:])
        assert view.lag_rows is not None
        assert (view.lag_rows == 0) == (truth == 0)
        if truth:
            errors.append(abs(view.lag_rows - truth) / truth)
            ticks += 1
    assert ticks > 300
    assert max(errors) <= SHARE, f"worst {max(errors):.3f}"
    sys.stderr.write(f"{kind.__name__}: {ticks} ticks with a backlog, worst {max(errors):.4f}\n")
