"""Release of all executors between runs: with ``min=0`` an application has none while it runs
nothing.

Only executors are given up, not the session. What a run needs is requested when it begins, or
before a batch that is due; the schedule's floor applies in between and can start executors early.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rheostat.model import Decision, Memory
from rheostat.plural import counted

LEAD_S = 60.0
"""Seconds before a due batch at which executors are requested; they take 9 to 30 s to start."""

SETTLE_S = 60.0
"""Seconds without work after which executors are released: one run often follows another."""

WORTH_S = 300.0
"""Minimum seconds without executors: new ones start cold, and load the state."""

LONG_TRIGGER_S = 600.0
"""Trigger interval in seconds from which executors are released between two batches."""


@dataclass(frozen=True, slots=True)
class Release:
    """Decides the size of an application that runs nothing, and of one whose next run begins.

    ``quiet_s`` returns for how many seconds from now (Unix time) nothing is due: 0 while something
    runs, infinity without a query. ``floor`` returns the scheduled minimum.
    """

    quiet_s: Callable[[float], float]
    floor: Callable[[float], int]

    def decide(
        self, working: int | None, size: int | None, memory: Memory, now: float
    ) -> tuple[Decision | None, Memory]:
        """Return the size between two runs, or None where the policy decides; ``working`` executors
        are registered, ``size`` is in force.
        """
        quiet_s, floor = self.quiet_s(now), self.floor(now)
        before = memory.get("awake")
        if quiet_s <= LEAD_S:
            if size is None or (size and (working or before is None)):
                return None, {}
            executors = max(1, before or 1, floor)
            reason = f"{counted(executors, 'executor')} requested for the run that begins"
            return Decision(target=executors, reason=reason), {"awake": executors}
        since_s = min(memory.get("since_s", now), now)
        settles = now - since_s < SETTLE_S or quiet_s < LEAD_S + WORTH_S
        if before is None and settles:
            return None, {"since_s": since_s}
        reason = "no executors between two runs (min=0)"
        if floor:
            reason = f"{counted(floor, 'executor')} between two runs: the scheduled floor"
        return Decision(target=floor, reason=reason), {
            "since_s": since_s,
            "awake": before or max(1, size or 1),
        }
