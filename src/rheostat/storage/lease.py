"""A lease: a file that names the owning process; only an ended process loses its lease.

On the owner's computer the operating system knows; from another one, a lease expires when it is not
renewed (clocks must agree to within seconds).
"""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rheostat.storage.file_system import FileSystem, StorageError

BEAT_S = 5.0
"""How often an owner renews its lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The owning process: computer, number, and start time (numbers are reused). ``token`` tells
    leases of one process apart; other computers take it for ended ``stale_s`` after its last
    renewal.
    """

    host: str
    pid: int
    started: str
    token: str = ""
    stale_s: float = 120.0


class Lease:
    """A lease that this process takes, renews and releases: the file ``name``.

    Every method but ``release`` raises StorageError where the file cannot be reached.
    """

    def __init__(
        self, files: FileSystem, name: str, stale_s: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._files = files
        self._name = name
        self._clock = clock
        own = replace(this_process(), token=uuid.uuid4().hex, stale_s=stale_s)
        self._text = json.dumps(asdict(own))

    def take(self) -> Owner | None:
        """Take it and return None; where a running process owns it, return that owner."""
        while not self._files.create(self._name, self._text):
            owner = lease_owner(self._files, self._name, self._clock())
            if owner is not None:
                return owner
            # Of two processes that remove a stale lease at once, the slower one may remove the new
            # lease of the other, which notices it when it renews.
            self._files.delete(self._name)
        return None

    def renew(self) -> bool:
        """Renew it; return whether it is still this one's, or was free."""
        text = self._files.read_text(self._name)
        if text is None:
            return self._files.create(self._name, self._text)
        if text == self._text:
            self._files.write(self._name, self._text)
        return text == self._text

    def release(self) -> None:
        """Give it back; raises nothing, because an unreleased lease ends with this process."""
        with suppress(StorageError):
            if self._files.read_text(self._name) == self._text:
                self._files.delete(self._name)


def lease_owner(files: FileSystem, name: str, now_s: float) -> Owner | None:
    """Return the process that owns a lease if it may still run; None also for a torn lease."""
    text, status = files.read_text(name), files.status(name)
    try:
        owner = Owner(**json.loads(text or ""))
    except (ValueError, TypeError):
        return None
    here = this_process()
    started = process_start(owner.pid) if owner.host == here.host else None
    age_s = now_s - status.changed_s if status else 0.0
    return None if is_stale(owner, here, started, age_s) else owner


def is_stale(owner: Owner, here: Owner, started_now: str | None, age_s: float) -> bool:
    """Tell whether the owner has ended; ``started_now`` is its process number's start."""
    return age_s > owner.stale_s if owner.host != here.host else started_now != owner.started


def this_process() -> Owner:
    """Return this process as an owner."""
    pid = os.getpid()
    return Owner(host=socket.gethostname(), pid=pid, started=process_start(pid) or "")


def process_start(pid: int) -> str | None:
    """Return a process's start in clock ticks of this boot; None where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else f"{boot}/{fields[19].decode()}"
