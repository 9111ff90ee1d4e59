"""One repartition of a checkpoint at a time: a lease beside the checkpoint."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rheostat.errors import BadInput, RheostatError
from rheostat.machine.lease import Lease, Owner, live_owner
from rheostat.repartition.protocol.disk import Disk
from rheostat.repartition.protocol.repartition_log import OWN_FOLDER

BEAT_S = 10.0
"""How often the lease is renewed."""

STALE_S = 120.0
"""A lease from another computer that is older has no owner any more: twelve missed renewals."""


@dataclass(frozen=True, slots=True)
class _DiskLeaseFile:
    """The lease's file on the checkpoint's file system."""

    path: Path
    disk: Disk

    def text(self) -> str | None:
        # Checked first, because a missing file of Hadoop's raises no FileNotFoundError.
        return self.path.read_text(encoding="utf-8") if self.path.exists() else None

    def changed_s(self) -> float:
        return self.path.stat().st_mtime

    def create(self, text: str) -> bool:
        return self.disk.take(self.path, text)

    def touch(self, text: str) -> None:
        self.disk.touch(self.path)

    def remove(self) -> None:
        self.disk.remove(self.path)


def lease_path(checkpoint: Path) -> Path:
    """Return where a checkpoint's lease is."""
    return checkpoint / OWN_FOLDER / "lease.json"


def lease_owner(checkpoint: Path) -> Owner | None:
    """Return the process that repartitions a checkpoint now; None without one."""
    path = lease_path(checkpoint)
    try:
        return live_owner(path.read_text(encoding="utf-8"), path.stat().st_mtime, time.time())
    except (OSError, ValueError):
        return None


@contextmanager
def leased(checkpoint: Path, disk: Disk) -> Iterator[None]:
    """Hold a checkpoint's lease; raises BadInput where another process holds it."""
    lease = Lease(_DiskLeaseFile(lease_path(checkpoint), disk), STALE_S)
    owner = lease.take()
    if owner is not None:
        raise BadInput(
            f"{checkpoint} is being repartitioned by another (process {owner.pid} on"
            f" {owner.host}): wait until it has ended"
        )
    ended = threading.Event()
    beat = threading.Thread(target=_beat, args=(lease, ended), daemon=True, name="rheostat-lease")
    beat.start()
    try:
        yield
    finally:
        ended.set()
        beat.join()
        lease.release()


def _beat(lease: Lease, ended: threading.Event) -> None:
    while not ended.wait(BEAT_S):
        try:
            lease.renew()
        except (OSError, RheostatError):
            return
