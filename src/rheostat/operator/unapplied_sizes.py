"""Sizes that others write into the scale sub-resource while nobody outside decides: an HPA that was
forgotten writes one at each of its looks, and the operator writes the size in force over it.
"""

from __future__ import annotations

from collections.abc import Callable

from rheostat.rescaling.conflict_history import ConflictHistory


class UnreadSizes:
    """Remembers, by the resource's uid, what we wrote last and what others did."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ours: dict[str, int | None] = {}
        self._hands: dict[str, ConflictHistory] = {}

    def writes(self, uid: str, replicas: int) -> None:
        """Take what is about to be written by us."""
        self._ours[uid] = replicas

    def see(self, uid: str, mode: str, replicas: int | None) -> None:
        """Take the size in a resource as it is now."""
        if mode == "external" or uid not in self._ours:
            # What stands there before our first write is nobody's fight.
            self.forget(uid)
            return
        if replicas is None or replicas == self._ours[uid]:
            return
        self._hands[uid] = self._hands.get(uid, ConflictHistory()).recorded(replicas, self._clock())

    def size(self, uid: str) -> int | None:
        """Return what somebody writes again and again; None where nobody does."""
        hand = self._hands.get(uid)
        return hand.size if hand and hand.is_conflict(self._clock()) else None

    def forget(self, uid: str) -> None:
        """Forget a resource."""
        self._ours.pop(uid, None)
        self._hands.pop(uid, None)
