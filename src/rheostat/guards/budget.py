"""Budget: a limit on the slot-hours per day."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Budget:
    """Lowers the target so that a day (UTC) costs at most ``slot_hours``.

    A size is allowed if the budget pays for it during ``ahead_s`` and for ``keep`` executors during
    the rest of the day. The minimum of ``bounds`` and ``keep`` take precedence over the budget.
    """

    slot_hours: float
    keep: int = 1
    ahead_s: float = 3600.0
    name: str = "budget"

    def __post_init__(self) -> None:
        if not (self.slot_hours > 0 and self.ahead_s > 0):
            raise BadInput(
                f"budget's slot_hours and ahead_s must be above 0, but they are {self.slot_hours}"
                f" and {self.ahead_s}"
            )
        if self.keep < 0:
            raise BadInput(f"budget's keep must be at least 0 executors, but it is {self.keep}")

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the largest size that the day's remaining budget pays for."""
        slots = observation.slots_per_executor or 1
        used_slot_s = self._used_slot_s(observation, slots, memory, now)
        left_s = _DAY_S - now % _DAY_S
        remembered: dict[str, Any] = {"t_s": now, "used_slot_s": used_slot_s}
        # In the last hour of a day, only the rest of the day must be paid for.
        ahead_s = min(self.ahead_s, left_s)
        spendable = self.slot_hours * 3600 - used_slot_s - self.keep * slots * (left_s - ahead_s)
        # Rounded first: 8 slot-hours over 1 hour are 8 executors, not 7.999999.
        affordable = max(self.keep, 0, math.floor(round(spendable / (slots * ahead_s), 9)))
        if decision.target <= affordable:
            return decision, remembered
        reason = (
            f"{decision.reason}; {used_slot_s / 3600:.1f} of {self.slot_hours:g} slot-hours used"
            f" today pay for {affordable}"
        )
        return replace(decision, target=affordable, reason=reason), remembered

    def _used_slot_s(
        self, observation: Observation, slots: int, memory: Memory, now: float
    ) -> float:
        """Return the slot-seconds used since midnight (UTC)."""
        then: float = memory.get("t_s", now)
        midnight = now - now % _DAY_S
        # The usage restarts at 0 each day.
        used: float = memory.get("used_slot_s", 0.0) if then >= midnight else 0.0
        return used + (observation.executors or 0) * slots * max(0.0, now - max(then, midnight))
