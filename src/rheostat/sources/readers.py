"""Which reader counts a source, by the description in its progress events."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points

from rheostat.sources.backlog_reader import BacklogReader
from rheostat.sources.delta_backlog import DeltaBacklog
from rheostat.sources.file_backlog import FileBacklog
from rheostat.sources.reported_backlog import ReportedBacklog
from rheostat.storage.file_system import FileSystem, is_remote
from rheostat.storage.local_files import LocalFileSystem

GROUP = "rheostat.backlog_readers"
"""The entry points of readers in other packages, each named as the source in its description."""

_DESCRIPTION = re.compile(r"(\w+)\[(.+)\]")
_GLOB = re.compile(r"[*?{\[]")
LocatedReader = Callable[[FileSystem, str, str], BacklogReader]
"""Makes a reader from a file system, the source's location, and its folder in the checkpoint."""

READERS: Mapping[str, LocatedReader] = {
    "DeltaSource": lambda files, table, _: DeltaBacklog(files, table.rstrip("/")),
    "FileStreamSource": FileBacklog,
}


def is_kafka(description: str) -> bool:
    """Return whether a source is Kafka, whose backlog the broker counts."""
    return description.startswith("Kafka")


def reader_of(
    description: str, number: int, checkpoint: str | None, remote: FileSystem | None
) -> BacklogReader | None:
    """Return the reader of a source; None for Kafka, and where its files cannot be reached.

    ``number`` is its position among the sources of its query, ``remote`` reads what is not on this
    computer.
    """
    if is_kafka(description):
        return None
    described = _DESCRIPTION.fullmatch(description)
    located = _located(described[1]) if described else None
    if described is None or located is None:
        return ReportedBacklog()
    location = described[2]
    files: FileSystem | None = remote if is_remote(location) else LocalFileSystem()
    needs_log = located is FileBacklog
    if files is None or _GLOB.search(location) or (needs_log and checkpoint is None):
        return None
    return located(files, location, f"{checkpoint}/sources/{number}")


def _located(kind: str) -> LocatedReader | None:
    """Return the reader of a kind of source: an installed one, else ours."""
    for installed in entry_points(group=GROUP, name=kind):
        reader: LocatedReader = installed.load()
        return reader
    return READERS.get(kind)
