"""The memory that a new process may use on this machine, including container limits."""

from __future__ import annotations

from pathlib import Path

import psutil

from rheostat.errors import BadInput

MIB = 1024 * 1024
# Limit, usage and (in memory.stat) reclaimable page cache of a control group: version 2, version 1.
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def available_bytes(root: Path = Path("/")) -> int:
    """Return the bytes available without swapping: the machine's, or what its control group leaves
    if that is less.

    ``root`` contains ``proc`` and ``sys``. Reads the limits of control groups version 1 and 2 of
    this process and of their parent groups; page cache that a group can release counts as
    available.
    """
    # Parent groups limit the process too, so the smallest remainder counts.
    left = [_left(folder) for folder in _groups(root)]
    return min(
        [int(psutil.virtual_memory().available), *(bytes_ for bytes_ in left if bytes_ is not None)]
    )


def require_memory(bytes_: int, purpose: str, available: int | None = None) -> None:
    """Raise BadInput if fewer than ``bytes_`` bytes are available for ``purpose``; ``available``
    defaults to this machine's.
    """
    available = available_bytes() if available is None else available
    if available < bytes_:
        raise BadInput(
            f"{purpose} needs {bytes_ // MIB} MiB of memory, but only {available // MIB} MiB are"
            " free; end programs or ask for less"
        )


def _groups(root: Path) -> list[Path]:
    """Return the folders of this process's memory control groups, innermost first; in a container
    only the top one may be visible.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    folders = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        # Version 2 has one line without controllers, version 1 one line per controller.
        if controllers == "" or "memory" in controllers.split(","):
            top = root / "sys/fs/cgroup" / ("memory" if controllers else "")
            inner = top / path.lstrip("/")
            folders += [
                inner,
                *(folder for folder in inner.parents if folder == top or top in folder.parents),
            ]
    return folders


def _left(group: Path) -> int | None:
    """Return limit - usage + reclaimable page cache of a group in bytes; None without a limit."""
    for limit, usage, cache in _FILES:
        try:
            bytes_ = int((group / limit).read_text()) - int((group / usage).read_text())
            statistics = dict(
                line.split() for line in (group / "memory.stat").read_text().splitlines()
            )
        except (OSError, ValueError):  # no such file, or the limit is the word "max"
            continue
        # The kernel drops this cache before it kills a process, so it counts as free.
        return bytes_ + int(statistics.get(cache, 0))
    return None
