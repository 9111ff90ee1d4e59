"""The clock and the event queue of a simulation, ordered by time, then by insertion."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TypeAlias

Action: TypeAlias = Callable[[float], None]
"""Called with the event's time."""


class Events:
    """The events of a simulation; ``now`` is the current time in seconds."""

    def __init__(self, start_s: float = 0.0) -> None:
        self.now = start_s
        self._heap: list[tuple[float, int, Action]] = []
        self._planned = 0

    def at(self, t_s: float, action: Action) -> None:
        """Schedule an action; one in the past runs at the current time."""
        # The number breaks ties, so that events at the same time never compare their actions.
        self._planned += 1
        # Time never goes back: a past event would show an earlier clock to later ones.
        heapq.heappush(self._heap, (max(t_s, self.now), self._planned, action))

    def run(self, until_s: float) -> None:
        """Run all events due up to ``until_s``, including new ones, and advance the clock."""
        heap = self._heap
        while heap and heap[0][0] <= until_s:
            self.now, _, action = heapq.heappop(heap)
            action(self.now)
        self.now = max(self.now, until_s)

    def run_next(self) -> bool:
        """Run the next event and all others at its time; return False if there is none."""
        if not self._heap:
            return False
        self.run(self._heap[0][0])
        return True
