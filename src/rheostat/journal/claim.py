"""Ensures one writer per journal: a second writer gets a subfolder of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count

from rheostat.storage.file_system import FileSystem
from rheostat.storage.lease import BEAT_S, Lease, this_process

LEASE_FILE = "lease.json"
OTHER_WRITER = "writer-"
"""Prefix of the folders of further writers in the journal's folder: ``writer-2`` and so on."""

STALE_S = 30.0
"""Seconds without a renewed lease after which a writer on another machine counts as ended; three of
its intervals if those are longer."""


class Claim:
    """The right of one writer to the journal in ``folder``: ``place`` is the subfolder, empty for
    the journal itself, and ``why`` names the other writer if there is one.

    The journal of an ended process on this machine is taken at once. While a writer on another
    machine may still run, the claim waits: it takes the lease as soon as it is stale, and moves to
    a subfolder if the other writer keeps renewing it. ``held`` is called every ``interval_s``
    seconds or more often.
    """

    def __init__(
        self,
        files: FileSystem,
        folder: str,
        interval_s: float = BEAT_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._files = files
        self._folder = folder
        self._beat_s = max(BEAT_S, interval_s)
        self._stale_s = max(STALE_S, 3 * interval_s)
        self._clock = clock
        self._released = False
        self.place, self.why = "", ""
        self._checked_s = self._waiting_since_s = clock()
        self._lease, self._held = self._take(1)

    def held(self) -> bool:
        """Return whether this process may write to the place now; renews the lease, or takes a free
        one. Raises OSError if the lease file is unreachable.
        """
        now_s = self._clock()
        if self._released or not 0 <= now_s - self._checked_s < self._beat_s:
            self._held = not self._released and self._check(now_s)
            self._checked_s = now_s
        return self._held

    def release(self) -> None:
        """Release the place; nothing is held from now on."""
        if self._held:
            self._lease.release()
        self._released, self._held = True, False

    def _check(self, now_s: float) -> bool:
        if self._held:
            self._waiting_since_s = now_s
            return self._lease.renew()
        if self._lease.take() is None:
            return True
        if now_s - self._waiting_since_s > 2 * self._stale_s:
            self._lease, self._held = self._take(2)
        return self._held

    def _take(self, first: int) -> tuple[Lease, bool]:
        """Return the first free lease and whether it was taken; the claim waits for a lease of
        another machine, because its owner may just have ended.
        """
        for number in count(first):
            place = "" if number == 1 else f"{OTHER_WRITER}{number}"
            name = "/".join(filter(None, (self._folder, place, LEASE_FILE)))
            lease = Lease(self._files, name, self._stale_s, self._clock)
            owner = lease.take()
            self.place = place
            if owner is None:
                return lease, True
            self.why = f"process {owner.pid} on {owner.host} writes the journal itself"
            if number == 1 and owner.host != this_process().host:
                return lease, False
        raise AssertionError("count() does not end")
