"""The names of the files in which Spark keeps the versions of state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from rheostat.repartition.checkpoints.checkpoint_files import CheckpointFiles

# 12.zip, 12.changelog, 12_ID.zip, 12_ID_BASE.changelog, 12.snapshot, 12.delta, each perhaps with a
# checksum beside it (.12.zip.crc of Hadoop, 12.zip.crc or 12.zip_....crc of Spark)
_VERSION = re.compile(r"^\.?(\d+)(_[^.]*)?\.(zip|changelog|snapshot|delta)(\W.*)?$")


def version_of(name: str) -> int | None:
    """Return the version that a file of a store belongs to; None for any other file."""
    match = _VERSION.match(name)
    return int(match.group(1)) if match else None


def versions_from(names: Iterable[str], first: int) -> list[str]:
    """Return the files of a version and of all later ones."""
    return [name for name in names if (version_of(name) or -1) >= first]


def state_folders(location: str, files: CheckpointFiles) -> Iterator[str]:
    """Yield the folders of every partition of every store."""
    state = f"{location}/state"
    for operator in filter(str.isdecimal, files.listing(state)):
        for partition in filter(str.isdecimal, files.listing(f"{state}/{operator}")):
            folder = f"{state}/{operator}/{partition}"
            names = files.listing(folder)
            yield folder
            # Stores with a name of their own, those of joins, have folders of that name.
            yield from (f"{folder}/{name}" for name in names if _may_be_store(name))


def _may_be_store(name: str) -> bool:
    return "." not in name and name not in ("SSTs", "_metadata", "logs")


def operator_metadata(text: str, partitions: int) -> str:
    """Return the text of an operator's metadata with another number of partitions."""
    version, body = text.split("\n", 1)
    metadata = json.loads(body)
    for store in metadata["stateStoreInfo"]:
        store["numPartitions"] = partitions
    return f"{version}\n{json.dumps(metadata, separators=(',', ':'))}"
