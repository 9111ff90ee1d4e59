"""For how long something has been the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable


class Since:
    """Keeps a value by its key, and since when it has been that one, by ``clock`` in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[Hashable, tuple[object, float]] = {}

    def see(self, key: Hashable, value: object) -> float:
        """Take a value as it is now, and return for how many seconds it has been the same."""
        now = self._clock()
        known = self._kept.get(key)
        if known is None or known[0] != value:
            known = self._kept[key] = (value, now)
        return now - known[1]

    def forget(self, key: Hashable) -> None:
        """Keep it no more."""
        self._kept.pop(key, None)
