"""Holds tasks for the executor that has their state while the size changes.

Otherwise a task of a long batch takes its state to an executor that has just come and is idle: that
is for the ramp to do.
"""

from __future__ import annotations

from collections.abc import Callable


class TaskHold:
    """Says when tasks are to wait longer, and when no more; ``hold`` is told of each change."""

    def __init__(self, hold: Callable[[bool], object]) -> None:
        self._hold = hold
        self._holds = False

    def follow(self, changing: bool) -> None:
        """Hold tasks while the size is changing."""
        if changing != self._holds:
            self._holds = changing
            self._hold(changing)

    def end(self) -> None:
        """Hold none any more."""
        self.follow(changing=False)
