from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.spark.sensing.state_stores import (
    Operator,
    operators,
    read_metadata,
    reported_operators,
)

JOIN = (
    "left-keyToNumValues",
    "left-keyWithIndexToValue",
    "right-keyToNumValues",
    "right-keyWithIndexToValue",
)


def folder_of(files: dict[str, str]) -> MemoryFileSystem:
    """Return a file system with the files of a checkpoint, by name."""
    file_system = MemoryFileSystem()
    for name, text in files.items():
        file_system.write(name, text)
    return file_system


def progress(*names: str, partitions: int = 8) -> dict[str, Any]:
    return {
        "stateOperators": [
            {"operatorName": name, "numShufflePartitions": partitions} for name in names
        ]
    }


def metadata(number: int, partitions: int, *stores: str) -> str:
    listed = [{"storeName": store, "numPartitions": partitions} for store in stores]
    return "v1\n" + json.dumps({"operatorInfo": {"operatorId": number}, "stateStoreInfo": listed})


def test_the_progress_lists_operators_from_the_sink_upwards():
    reported = reported_operators(progress("stateStoreSave", "dedupeWithinWatermark"))
    assert reported == (Operator(0, 8, ("default",)), Operator(1, 8, ("default",)))
    assert reported_operators(progress("symmetricHashJoin")) == (Operator(0, 8, JOIN),)
    assert reported_operators(progress()) == ()


def test_checkpoint_metadata_overrides_the_progress():
    folder = folder_of({"file:/c/state/0/_metadata/metadata": metadata(0, 24, "default")})
    assert operators(folder, "file:/c/state", progress("symmetricHashJoin")) == (
        Operator(0, 24, ("default",)),
    )
    assert operators(MemoryFileSystem(), "file:/c/state", progress("symmetricHashJoin")) == (
        Operator(0, 8, JOIN),
    )


def test_format_2_uses_the_newest_metadata_file():
    files = {
        f"s/0/_metadata/v2/{batch}": metadata(0, partitions, "default")
        for batch, partitions in ((0, 8), (10, 24), (9, 16))
    }
    assert operators(folder_of(files), "s", progress("stateStoreSave")) == (
        Operator(0, 24, ("default",)),
    )


@pytest.mark.parametrize(
    "text",
    ["", "v1", "v1\n{}", "v1\n{", 'v1\n{"operatorInfo": {"operatorId": 0}, "stateStoreInfo": []}'],
)
def test_unreadable_metadata_is_ignored(text):
    assert read_metadata(text) is None
    assert operators(folder_of({"s/0/_metadata/metadata": text}), "s", progress("dedupe")) == (
        Operator(0, 8, ("default",)),
    )
