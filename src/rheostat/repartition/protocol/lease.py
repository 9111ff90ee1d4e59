"""One repartition of a checkpoint at a time: a lease beside the checkpoint, with its holder's name.

A lease is given back when its holder ends. One whose holder was killed is recognised: on the same
computer by its process, from another one by its age.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rheostat.errors import BadInput, RheostatError
from rheostat.repartition.protocol.disk import Disk
from rheostat.repartition.protocol.own_journal import OWN_FOLDER

BEAT_S = 10.0
"""How often a holder shows that it lives."""

STALE_S = 120.0
"""A lease from another computer that is older has no holder any more: twelve missed beats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds a lease: the process, when it began (so that a reused number is seen), where."""

    host: str
    pid: int
    began: str
    what: str = "a repartition"


def is_stale(holder: Holder, here: Holder, began_now: str | None, age_s: float) -> bool:
    """Tell whether a lease has no holder any more.

    ``began_now`` is when the process of that number began that runs here now, None if none does.
    """
    if holder.host != here.host:
        return age_s > STALE_S
    return began_now is None or began_now != holder.began


def lease_path(checkpoint: Path) -> Path:
    """Return where a checkpoint's lease is."""
    return checkpoint / OWN_FOLDER / "lease.json"


def holder_of(checkpoint: Path) -> Holder | None:
    """Return who repartitions a checkpoint at this moment; None if nobody does."""
    path = lease_path(checkpoint)
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        age_s = time.time() - path.stat().st_mtime
        holder = Holder(**told)
    except (OSError, ValueError, TypeError):
        return None
    return None if is_stale(holder, _self(), _began(holder.pid), age_s) else holder


@contextmanager
def leased(checkpoint: Path, disk: Disk) -> Iterator[None]:
    """Hold a checkpoint's lease; raises BadInput where another holds it."""
    path = lease_path(checkpoint)
    _take(path, checkpoint, disk)
    ended = threading.Event()
    beat = threading.Thread(
        target=_beat, args=(path, disk, ended), daemon=True, name="rheostat-lease"
    )
    beat.start()
    try:
        yield
    finally:
        ended.set()
        beat.join()
        disk.remove(path)


def _take(path: Path, checkpoint: Path, disk: Disk) -> None:
    if holder_of(checkpoint) is None and path.exists():
        _set_aside(path)
    if not disk.take(path, json.dumps(asdict(_self()))):
        holder = holder_of(checkpoint)
        named = f" (process {holder.pid} on {holder.host})" if holder else ""
        raise BadInput(
            f"{checkpoint} is being repartitioned by another{named}: wait until it has ended"
        )


def _set_aside(path: Path) -> None:
    """Take a stale lease away: of several that try, a rename lets one succeed."""
    aside = path.with_name(f"lease.stale-{os.getpid()}")
    try:
        path.rename(aside)
        aside.unlink()
    except FileNotFoundError:
        return


def _beat(path: Path, disk: Disk, ended: threading.Event) -> None:
    while not ended.wait(BEAT_S):
        try:
            disk.touch(path)
        except RheostatError:
            return


def _self() -> Holder:
    return Holder(host=socket.gethostname(), pid=os.getpid(), began=_began(os.getpid()) or "")


def _began(pid: int) -> str | None:
    """Return when a process of this computer began, as its system says it; None if none runs."""
    import psutil

    try:
        return str(psutil.Process(pid).create_time())
    except psutil.Error:
        return None
