"""Reads the committed Kafka offsets from the logs of a checkpoint, which has them before the first
batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from rheostat.signals.lag import Offsets
from rheostat.storage.file_system import FileSystem, StorageError, numbered


def committed_offsets(files: FileSystem, checkpoint: str) -> Offsets | None:
    """Return the offsets after the last committed batch of a query, or those from which its first
    batch starts; None if the checkpoint has neither, no Kafka source, or cannot be read.
    """
    try:
        commits = numbered(files, f"{checkpoint}/commits")
        if commits:
            entry = files.read_text(f"{checkpoint}/offsets/{commits[-1]}") or ""
            return _merged(entry.splitlines()[2:])
        starts = [
            files.read_text(f"{checkpoint}/sources/{source}/0") or ""
            for source in numbered(files, f"{checkpoint}/sources")
        ]
    except StorageError:
        return None
    return _merged(line for text in starts for line in text.splitlines()[1:])


def topic_offsets(line: str) -> dict[str, dict[int, int]]:
    """Return topic -> partition -> offset; empty for the offset of another kind of source."""
    try:
        return {
            topic: {int(partition): int(offset) for partition, offset in partitions.items()}
            for topic, partitions in json.loads(line).items()
        }
    except (ValueError, AttributeError, TypeError):
        return {}


def _merged(lines: Iterable[str]) -> Offsets | None:
    offsets: dict[tuple[str, int], int] = {}
    for line in lines:
        for topic, partitions in topic_offsets(line).items():
            offsets |= {(topic, partition): offset for partition, offset in partitions.items()}
    return offsets or None
