"""The Kafka offsets that a checkpoint has committed, read from its logs: known before the first
batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Protocol

from rheostat.signals.lag import Offsets


class LogFiles(Protocol):
    """Reads the small files of a checkpoint on any file system."""

    def listing(self, folder: str) -> list[str]:
        """Return the names in a folder; none if it does not exist."""
        ...

    def text(self, file: str) -> str | None:
        """Return a file's text; None if it does not exist."""
        ...


def committed_offsets(files: LogFiles, checkpoint: str) -> Offsets | None:
    """Return the offsets after the last committed batch of a query, or those from which its first
    batch starts; None where the checkpoint has neither, or no Kafka source.
    """
    commits = _numbers(files, f"{checkpoint}/commits")
    if commits:
        entry = files.text(f"{checkpoint}/offsets/{commits[-1]}") or ""
        return _merged(entry.splitlines()[2:])
    starts = (
        files.text(f"{checkpoint}/sources/{source}/0") or ""
        for source in _numbers(files, f"{checkpoint}/sources")
    )
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
    offsets = {
        (topic, partition): offset
        for line in lines
        for topic, partitions in topic_offsets(line).items()
        for partition, offset in partitions.items()
    }
    return offsets or None


def _numbers(files: LogFiles, folder: str) -> list[int]:
    return sorted(int(name) for name in files.listing(folder) if name.isdecimal())
