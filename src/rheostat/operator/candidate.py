"""Leader election by a Lease, independent of the clocks of computers.

A candidate leads for ``LEADS_S``, counted from before it wrote the lease, and takes over another's
lease that has not changed for ``LEASE_S`` on the candidate's own monotonic clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

LEASE_S = 15
LEADS_S = 10.0
TURN_S = 2.0
"""Seconds between two attempts of a candidate to renew or take the lease."""


@dataclass(frozen=True, slots=True)
class Held:
    """A lease as it was read: its holder (empty if released) and the version of the object."""

    holder: str
    version: str


class Lease(Protocol):
    """The lease in the Kubernetes API; raises ``OSError`` if the API does not answer."""

    def read(self) -> Held | None:
        """Return the lease, or None if it does not exist."""

    def write(self, holder: str, version: str | None) -> bool:
        """Write the holder if the version is unchanged (None: no lease); False on a conflict."""


class Candidate:
    """An operator that leads or waits; all times are seconds of a monotonic clock."""

    def __init__(self, me: str, lease: Lease) -> None:
        self._me, self._lease = me, lease
        self._observed: Held | None = None
        self._observed_s = 0.0
        self._until_s: float | None = None

    def leads(self, now: float) -> bool:
        """Return whether this candidate leads at ``now``."""
        return self._until_s is not None and now < self._until_s

    def turn(self, now: float) -> None:
        """Renew the lease, take it, or wait; raises ``OSError`` as ``Lease`` does."""
        held = self._lease.read()
        if held != self._observed:
            self._observed, self._observed_s = held, now
        if held and held.holder not in ("", self._me):
            self._until_s = None
            if now - self._observed_s < LEASE_S:
                return
        if self._lease.write(self._me, held.version if held else None):
            self._until_s = now + LEADS_S

    def release(self, now: float) -> None:
        """Release the lease if it is ours."""
        held = self._lease.read() if self.leads(now) else None
        if held and held.holder == self._me:
            self._lease.write("", held.version)
        self._until_s = None
