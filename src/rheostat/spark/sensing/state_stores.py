"""The state stores of a running query, from its checkpoint or from its progress.

From Spark 4.0 on, a checkpoint describes its operators in ``state/<operator>/_metadata``. For older
versions the progress lists them in the order of their numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rheostat.storage.file_system import FileSystem, StorageError, numbered

_DEFAULT = ("default",)
JOIN_STORES = (
    "left-keyToNumValues",
    "left-keyWithIndexToValue",
    "right-keyToNumValues",
    "right-keyWithIndexToValue",
)
"""The stores of a stream-stream join in state formats 1 and 2; format 3 has a single store
(``SymmetricHashJoinStateManager``)."""

_STORES = {"symmetricHashJoin": JOIN_STORES}


@dataclass(frozen=True, slots=True)
class Operator:
    """A stateful operator: its number, its partitions, and the store names in each partition."""

    number: int
    partitions: int
    stores: tuple[str, ...]


def operators(
    files: FileSystem, state_folder: str, progress: Mapping[str, Any]
) -> tuple[Operator, ...]:
    """Return a query's stateful operators from checkpoint metadata, or from the progress."""
    reported = reported_operators(progress)
    return tuple(
        _described(files, f"{state_folder}/{operator.number}/_metadata") or operator
        for operator in reported
    )


def reported_operators(progress: Mapping[str, Any]) -> tuple[Operator, ...]:
    """Return the stateful operators of the progress, numbered from the sink upwards."""
    return tuple(
        Operator(
            number,
            int(operator["numShufflePartitions"]),
            _STORES.get(str(operator.get("operatorName")), _DEFAULT),
        )
        for number, operator in enumerate(progress["stateOperators"])
        if operator.get("numShufflePartitions")
    )


def _described(files: FileSystem, folder: str) -> Operator | None:
    try:
        newest = numbered(files, f"{folder}/v2")[-1:]
        # The newest file comes first: the number of stores may have changed since the first start.
        for file in (*(f"{folder}/v2/{batch}" for batch in newest), f"{folder}/metadata"):
            text = files.read_text(file)
            if text is not None:
                return read_metadata(text)
    except StorageError:  # the progress describes the operators, too
        pass
    return None


def read_metadata(text: str) -> Operator | None:
    """Return the operator of a metadata file (version line, then JSON), or None."""
    try:
        read = json.loads(text.partition("\n")[2])
        stores: Sequence[Mapping[str, Any]] = read["stateStoreInfo"]
        names = tuple(str(store["storeName"]) for store in stores)
        return Operator(
            int(read["operatorInfo"]["operatorId"]), int(stores[0]["numPartitions"]), names
        )
    except (ValueError, KeyError, IndexError, TypeError):
        return None
