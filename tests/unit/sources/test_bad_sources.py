"""A source that cannot be counted costs one line; the job is then sized by its batch times."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.contract.backlog_scenarios import Iceberg
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.sources.backlog_reader import Amount, BacklogReader
from rheostat.sources.delta_backlog import DeltaBacklog
from rheostat.sources.file_backlog import FileBacklog
from rheostat.sources.reported_backlog import ReportedBacklog
from rheostat.spark.sensing.progress import batch_of
from rheostat.spark.sensing.source_tracker import SourceTracker
from rheostat.storage.file_system import StorageError

DELTA_OFFSET = {"reservoirVersion": 3, "index": -1}


class NoBucket(MemoryFileSystem):
    """A file system whose bucket does not exist."""

    def files_below(self, folder: str) -> Any:
        raise StorageError(f"{folder} cannot be read: NoSuchBucket:\n the bucket does not exist")

    def names(self, folder: str) -> list[str]:
        return [*self.files_below(folder)]

    def read_text(self, name: str) -> str | None:
        return str(self.files_below(name))


def commit(version: int, **stats: int) -> tuple[str, str]:
    """Return the name and the text of a commit that adds one file of 700 bytes."""
    add = {"path": f"{version}", "size": 700, **({"stats": json.dumps(stats)} if stats else {})}
    return f"/t/_delta_log/{version:020d}.json", json.dumps({"add": add})


def delta(*commits: tuple[str, str]) -> DeltaBacklog:
    files = MemoryFileSystem()
    for name, text in commits:
        files.write(name, text)
    return DeltaBacklog(files, "/t")


def expired() -> BacklogReader:
    table = Iceberg(Path())
    table.append(10)
    table.append(10)
    del table.snapshots[1]
    return table.reader


BAD: dict[str, tuple[BacklogReader, Any, str]] = {
    "a vacuumed log": (delta(commit(7), commit(8)), DELTA_OFFSET, "no longer has version 3"),
    "no bucket for a table": (DeltaBacklog(NoBucket(), "/t"), DELTA_OFFSET, "NoSuchBucket"),
    "no bucket for files": (FileBacklog(NoBucket(), "/in", "/log"), {"logOffset": 1}, "NoSuchB"),
    "a damaged commit": (delta((commit(3)[0], "{")), DELTA_OFFSET, "Expecting property name"),
    "an opaque offset": (ReportedBacklog(), "opaque", "it reports none"),
    "an opaque offset of a table": (delta(commit(3)), "opaque", "it reports none"),
    "an expired snapshot": (
        expired(),
        {"snapshot_id": 1, "position": 2},
        "no longer has snapshot 1",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_an_uncountable_source_logs_one_line_and_has_no_backlog(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    reader, offset, expected = BAD[name]
    source = {"description": "X[y]", "endOffset": str(offset), "numInputRows": 10}
    event = {
        "name": "q",
        "runId": "r",
        "batchId": 1,
        "timestamp": "2026-11-28T10:00:00.000Z",
        "numInputRows": 10,
        "durationMs": {"triggerExecution": 1000},
        "sources": [source],
        "stateOperators": [],
        "sink": {},
    }
    tracker = SourceTracker(reader)
    with caplog.at_level(logging.WARNING, "rheostat"):
        views = [tracker.observe(source, batch_of(event), 1000.0 + tick) for tick in range(3)]
    assert [(view.lag_rows, view.backlog, view.rate) for view in views] == [(None, None, None)] * 3
    (line,) = (record.getMessage() for record in caplog.records)
    assert expected in line
    assert "\n" not in line


def test_a_table_without_statistics_is_counted_in_bytes() -> None:
    reader = delta(commit(3, numRecords=10), commit(4), commit(5, numRecords=20))
    backlog = reader.backlog({"endOffset": {**DELTA_OFFSET, "reservoirVersion": 4}}, 1000.0)
    assert backlog is not None
    assert backlog.amount == Amount(1400, "bytes")
