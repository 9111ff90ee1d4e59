"""Copies event logs from file systems that only Hadoop can open, before they are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.machine.scratch_folder import ScratchFolder
from rheostat.replay.event_logs.log_files import ROLLED

SCHEMES = ("hdfs", "viewfs", "webhdfs", "swebhdfs", "ofs")
"""Arrow opens none of these without Hadoop's native library, which PySpark does not include."""


@contextmanager
def readable(place: str, application: str, oldest_s: float) -> Iterator[str]:
    """Yield a readable location of the logs of ``place``: itself, or a temporary copy.

    For ``SCHEMES``, Spark's Hadoop client copies, with the configuration of ``HADOOP_CONF_DIR``,
    the logs whose names contain ``application`` and that were written after ``oldest_s`` (Unix
    seconds). Raises BadInput if there is no such log, StorageError if the file system refuses.
    """
    if place.partition("://")[0] not in SCHEMES:
        yield place
        return
    with ScratchFolder("advise") as folder:
        yield str(_copy(place.rstrip("/"), application, oldest_s, folder))


def _copy(place: str, application: str, oldest_s: float, folder: Path) -> Path:
    from rheostat.spark.internals.hadoop_file_system import own_files

    files = own_files()
    status, (parent, _, name) = files.status(place), place.rpartition("/")
    if status is None:
        raise BadInput(f"there is no event log at {place}; it is a file or a folder of them")
    copied = False
    is_log = not status.is_folder or name.startswith(ROLLED)
    for log in [name] if is_log else files.names(place):
        source = f"{parent if is_log else place}/{log}"
        written = files.status(source)
        if written and application in log and written.changed_s >= oldest_s:
            files.download(source, folder / log)
            os.utime(folder / log, ns=(written.changed_ns, written.changed_ns))
            copied = True
    if not copied:
        raise BadInput(f"no event log in {place} matches --application {application!r} and --since")
    return folder / name if is_log else folder
