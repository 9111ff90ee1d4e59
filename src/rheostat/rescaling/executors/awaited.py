"""What the protocol waits for, told by its memory: batch boundaries, and assignments that rest."""

from __future__ import annotations

from rheostat.rescaling.executors.executor_lifecycle import DONE
from rheostat.rescaling.executors.memory import Memory
from rheostat.rescaling.executors.phase_limits import Waits

_RESTING = DONE | {"standby", "leaving", "killed"}
"""Phases that no batch boundary ends."""


def awaits_boundary(memory: Memory) -> bool:
    """Tell whether a batch boundary brings some executor on."""
    return any(life.phase not in _RESTING for life in memory.lives.values())


def has_rested(memory: Memory, now_s: float, waits: Waits = Waits()) -> bool:  # noqa: B008
    """Tell whether an assignment that did not stay has rested long enough to be tried again."""
    stuck = (life for life in memory.lives.values() if life.phase == "stuck")
    return any(now_s - life.since_s >= waits.rest_s for life in stuck)


def standing_by(memory: Memory) -> set[str]:
    """Return the executors that stand by, warm and without state."""
    return {executor for executor, life in memory.lives.items() if life.phase == "standby"}
