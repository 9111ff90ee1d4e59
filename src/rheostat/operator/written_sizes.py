"""Tracks how long a size is unchanged, and sizes that others (such as an HPA) write in vain."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from rheostat.protocols.conflict_history import ConflictHistory


class Since:
    """Keeps a value per key with the time of its last change; ``clock`` returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[Hashable, tuple[object, float]] = {}

    def update(self, key: Hashable, value: object) -> float:
        """Record the current value; return for how many seconds it has been unchanged."""
        now = self._clock()
        known = self._kept.get(key)
        if known is None or known[0] != value:
            known = self._kept[key] = (value, now)
        return now - known[1]

    def forget(self, key: Hashable) -> None:
        """Remove the value of a key."""
        self._kept.pop(key, None)


class UnappliedSizes:
    """Records, by resource UID, our last write to ``replicas`` and the conflicting writes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._written: dict[str, int | None] = {}
        self._conflicts: dict[str, ConflictHistory] = {}

    def writes(self, uid: str, replicas: int) -> None:
        """Record a size that the operator is about to write."""
        self._written[uid] = replicas

    def record(self, uid: str, mode: str, replicas: int | None) -> None:
        """Record the current size in a resource."""
        if mode == "external" or uid not in self._written:
            # A size from before the operator's first write is not a conflict.
            self.forget(uid)
            return
        if replicas is None or replicas == self._written[uid]:
            return
        self._conflicts[uid] = self._conflicts.get(uid, ConflictHistory()).recorded(
            replicas, self._clock()
        )

    def size(self, uid: str) -> int | None:
        """Return the size that another controller keeps writing; None if there is none."""
        conflict = self._conflicts.get(uid)
        return conflict.size if conflict and conflict.is_conflict(self._clock()) else None

    def forget(self, uid: str) -> None:
        """Remove the records of a resource."""
        self._written.pop(uid, None)
        self._conflicts.pop(uid, None)
