"""Whether a process of this computer still runs."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

_CLOCK_S = 2.0
"""What the start of a process, and a time that it noted itself, may differ by."""


def runs(host: str | None, pid: int | None, at_s: float) -> bool | None:
    """Return whether the process that had this id at a Unix time still runs; None for a process of
    another computer.
    """
    if host != socket.gethostname() or pid is None:
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    begun_s = _begun_s(pid)
    # A number is given again: a process that began later is another one.
    return begun_s is None or begun_s <= at_s + _CLOCK_S


def _begun_s(pid: int) -> float | None:
    """Return the Unix time at which a process began, infinity for one that has ended and is not
    reaped; None where there is no /proc.
    """
    try:
        # The name in parentheses may hold spaces; state is the field after it, the start the 22nd.
        values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        up_s = float(Path("/proc/uptime").read_text().split()[0])
    except (OSError, ValueError):
        return None
    if values[0] == "Z":
        return float("inf")
    return time.time() - up_s + int(values[19]) / os.sysconf("SC_CLK_TCK")
