"""Whether a query uses a checkpoint, judged by its files, because Spark keeps no lock there.

A query that waits for its next trigger writes nothing and is not detected. It does no harm: the
repartition takes the number of its next batch in the offset log, and Spark ends a query whose
number is taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rheostat.errors import BadInput
from rheostat.storage.file_system import FileSystem, numbered

QUIET_S = 20.0
"""Logs that are older than this are not watched: their query is taken to be stopped."""

WATCH_S = 6.0
"""How long younger logs are watched for a next entry."""


def last_sign(checkpoint: str, files: FileSystem) -> tuple[float, int]:
    """Return when a log of the checkpoint was last written to, in seconds since 1970, and the
    number of its newest entry.
    """
    entries: list[tuple[float, int]] = []
    for log in ("offsets", "commits"):
        for number in numbered(files, f"{checkpoint}/{log}"):
            status = files.status(f"{checkpoint}/{log}/{number}")
            if status is not None:  # a running query deletes old entries
                entries.append((status.changed_s, number))
    return max((at for at, _ in entries), default=0.0), max((n for _, n in entries), default=-1)


def require_stopped(
    checkpoint: str,
    files: FileSystem,
    now: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Raise BadInput if a query writes to the checkpoint; watches for up to
    ``WATCH_S`` seconds if it was written to a short time ago.
    """
    before = last_sign(checkpoint, files)
    ends = now() + WATCH_S
    while now() - before[0] < QUIET_S and now() < ends:
        sleep(0.5)
        if last_sign(checkpoint, files) != before:
            raise BadInput(f"a query is running on {checkpoint}: stop it first")
