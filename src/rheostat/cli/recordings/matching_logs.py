"""The event logs of an address that a user selects, where they are or copied through Hadoop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rheostat.cli.options import span_s
from rheostat.errors import BadInput
from rheostat.machine.scratch_folder import ScratchFolder
from rheostat.replay.event_logs.log_files import ROLLED, LogFiles, find_logs, missing
from rheostat.storage.file_system import StorageError

if TYPE_CHECKING:
    from rheostat.spark.internals.hadoop_file_system import HadoopFileSystem

_ARROW = ("file", "s3", "s3a", "s3n")
"""What Arrow opens; it opens HDFS only with Hadoop's native library, which PySpark lacks."""

Matches = Callable[[str, float], bool]
"""Whether a log is wanted, by its name and when it was written last (Unix seconds)."""


@contextmanager
def matching_logs(place: str, application: str, since: str) -> Iterator[tuple[str, list[LogFiles]]]:
    """Yield where the logs of ``place`` can be read, there or in a copy for this run, and those
    whose name has ``application`` and that were written ``since``, as 7d or 12h, if it is given.

    What Arrow cannot open is copied with Spark's Hadoop client and its configuration
    (``HADOOP_CONF_DIR``). Raises BadInput if no log matches or the place cannot be opened.
    """
    oldest_s = time.time() - span_s(since) if since else 0.0

    def matches(name: str, written_s: float) -> bool:
        return application in name and written_s >= oldest_s

    with ExitStack() as stack:
        if "://" not in place or place.partition("://")[0] in _ARROW:
            here = place
            logs = [log for log in find_logs(place) if matches(log.application, log.written_s)]
        else:
            folder = stack.enter_context(ScratchFolder("advise"))
            here = str(folder)
            logs = _copy(place.rstrip("/"), matches, folder)
        if not logs:
            raise BadInput(
                f"no event log in {place} matches --application {application!r} --since {since!r}"
            )
        yield here, logs


def _copy(place: str, matches: Matches, folder: Path) -> list[LogFiles]:
    """Copy the logs that match, and return them and those that cannot be read."""
    from rheostat.local.local_session import QUIET
    from rheostat.spark.internals.hadoop_file_system import own_files

    files, (parent, _, own) = own_files(QUIET), place.rpartition("/")
    try:
        status = files.status(place)
    except StorageError as error:
        raise BadInput(str(error)) from None
    if status is None:
        raise missing(place)
    is_log = not status.is_folder or own.startswith(ROLLED)
    above, names = (parent, [own]) if is_log else (place, files.names(place))
    names = [name for name in names if not name.startswith((".", "_"))]
    if not names:
        raise missing(place, is_folder=True)
    refused = []
    for name in names:
        try:
            _download(files, f"{above}/{name}", matches, folder / name)
        except StorageError as error:
            refused.append(LogFiles(name, (), 0, refused=str(error)))
    return refused + (find_logs(str(folder)) if any(folder.glob("[!.]*")) else [])


def _download(files: HadoopFileSystem, source: str, matches: Matches, target: Path) -> None:
    status = files.status(source)
    if status is None or status.is_folder != target.name.startswith(ROLLED):
        return
    parts = files.files_below(source).values() if status.is_folder else [status]
    if matches(target.name, max((part.changed_s for part in parts), default=0.0)):
        files.download(source, target)
