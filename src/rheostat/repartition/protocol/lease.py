"""One repartition of a checkpoint at a time: a lease beside the checkpoint."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rheostat.errors import BadInput
from rheostat.repartition.protocol.repartition_log import OWN_FOLDER
from rheostat.storage.file_system import FileSystem, StorageError
from rheostat.storage.lease import Lease

BEAT_S = 10.0
"""How often the lease is renewed."""

STALE_S = 120.0
"""A lease from another computer that is older has no owner any more: twelve missed renewals."""


def lease_path(checkpoint: str) -> str:
    """Return where the lease of a checkpoint is."""
    return f"{checkpoint}/{OWN_FOLDER}/lease.json"


@contextmanager
def leased(checkpoint: str, files: FileSystem) -> Iterator[None]:
    """Hold the lease of a checkpoint; raises BadInput where another process holds it."""
    lease = Lease(files, lease_path(checkpoint), STALE_S)
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
        except StorageError:
            return
