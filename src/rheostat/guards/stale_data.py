"""Stale data: no decisions on old or invalid numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation


@dataclass(frozen=True, slots=True)
class StaleData:
    """Keeps the size if the observation is older than ``after_s`` or contains a negative number."""

    after_s: float = 30.0
    name: str = "stale_data"

    def __post_init__(self) -> None:
        if not self.after_s > 0:
            raise BadInput(
                f"stale data's after_s must be above 0 seconds, but it is {self.after_s}"
            )

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the current target with the reason."""
        current = observation.size
        fault = self._fault(observation, now)
        if fault is None or current is None:
            return decision, {}
        # Actions are dropped too: invalid numbers must not cause an executor to be replaced.
        return replace(decision, target=current, reason=f"size kept: {fault}", actions=()), {}

    def _fault(self, observation: Observation, now: float) -> str | None:
        age_s = now - observation.t_s
        # Written so that a time of NaN counts as stale.
        if not abs(age_s) <= self.after_s:
            return f"the observation is {age_s:.0f} s old"
        values = ((f.name, getattr(observation, f.name)) for f in fields(observation))
        broken = (f"{n} is {v}" for n, v in values if isinstance(v, int | float) and v < 0)
        return next(broken, None)
