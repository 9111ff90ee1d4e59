"""Reads entries of a checkpoint's logs, and builds the two entries of a repartition's batch.

Both are copies of the last committed batch's entries. Versions 1 and 2 of the offset log have the
configuration in the second line; the other lines stay unchanged.
"""

from __future__ import annotations

import json
from typing import Any

from rheostat.errors import BadInput
from rheostat.repartition.state_engine import StateIds
from rheostat.spark.sensing.progress import entry_of
from rheostat.spark.sensing.query_shape import SHUFFLE_PARTITIONS
from rheostat.storage.file_system import FileSystem


def entry_partitions(files: FileSystem, name: str) -> int:
    """Return the number of state partitions in an entry of the offset log; raises BadInput if it
    cannot be read.
    """
    try:
        settings = entry_of(name, files.read_text(name) or "")[1]
        return int(settings[SHUFFLE_PARTITIONS])
    except (BadInput, ValueError, KeyError):
        raise BadInput(f"{name} is no entry of an offset log: restore it from a backup") from None


def offset_entry(last: str, partitions: int) -> str:
    """Return the offset log's entry of the last batch with another number of state partitions."""
    version, metadata, *offsets = last.split("\n")
    changed: dict[str, Any] = json.loads(metadata)
    changed["conf"] = {**changed["conf"], SHUFFLE_PARTITIONS: str(partitions)}
    return "\n".join((version, _json(changed), *offsets))


def commit_entry(last: str, ids: StateIds) -> str:
    """Return the commit log's entry of the last batch, with the IDs of the new state's files if the
    checkpoint's format has them.
    """
    if not ids:
        return last
    version, _, body = last.partition("\n")
    changed: dict[str, Any] = {**json.loads(body or "{}"), "stateUniqueIds": ids}
    return f"{version}\n{_json(changed)}"


def _json(value: dict[str, Any]) -> str:
    """Return JSON as Spark writes it: without blanks, and with non-ASCII letters unescaped."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
