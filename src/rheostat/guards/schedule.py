"""The schedule: minimum, maximum and periods without changes, by time of day, weekday and date."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import product

from rheostat.errors import BadInput
from rheostat.guards.periods import SizedPeriod, in_force, overlap, periods_of, sized_periods_of
from rheostat.model import Decision, Memory, Observation


@dataclass(frozen=True, slots=True)
class ExcludedPeriods:
    """Keeps the size in the periods ``excluded``, such as ``Mon-Fri 08:00-09:30 Europe/Budapest``.

    Source: excluded periods of the Flink Kubernetes operator. Raises BadInput for other text.
    """

    excluded: str = ""
    name: str = "excluded_periods"

    def __post_init__(self) -> None:
        periods_of(self.excluded)

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the current size while an excluded period is in force."""
        current = observation.size
        keeps = current is None or decision.target == current
        if current is None or keeps or not in_force(periods_of(self.excluded), now):
            return decision, {}
        reason = f"{decision.reason}; size kept: no changes in {self.excluded}"
        return replace(decision, target=current, reason=reason), {}


@dataclass(frozen=True, slots=True)
class Schedule:
    """Applies the scheduled ``floor`` and ``ceiling`` in force (compare KEDA's cron scaler).

    The largest floor and the smallest ceiling apply. Raises BadInput for text that is not a list of
    sized periods, and for a floor above a ceiling.
    """

    floor: str = ""
    ceiling: str = ""
    name: str = "schedule"

    def __post_init__(self) -> None:
        _require_possible(self.floor, self.ceiling)

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision within the scheduled limits; the memory is for the journal."""
        kept: Memory = {"floor": self.floor, "ceiling": self.ceiling}
        for kind, entry in _in_force(self.floor, self.ceiling, now):
            size = entry.executors
            if (decision.target < size) if kind == "floor" else (decision.target > size):
                reason = f"{decision.reason}; the {kind} is {size} in {entry.period.text}"
                return replace(decision, target=size, reason=reason), kept
        return decision, kept


def floor_at(floor: str, now: float) -> int:
    """Return the scheduled minimum at ``now`` (Unix seconds); 0 without one."""
    return next((entry.executors for _, entry in _in_force(floor, "", now)), 0)


def schedule_text(floor: str, ceiling: str, now: float) -> str:
    """Return the limits in force at ``now`` (Unix seconds) and their ends, if scheduled."""
    parts = [_entry_text(kind, entry, now) for kind, entry in _in_force(floor, ceiling, now)]
    if not parts and (floor or ceiling):
        return "no scheduled floor or ceiling at this time"
    return ", ".join(parts)


def _entry_text(kind: str, entry: SizedPeriod, now: float) -> str:
    end_s = entry.period.end_of(now) or now
    end = datetime.fromtimestamp(end_s, entry.period.zone)
    return f"{kind} {entry.executors} until {end:%Y-%m-%d %H:%M} ({entry.period.text})"


def _in_force(floor: str, ceiling: str, now: float) -> list[tuple[str, SizedPeriod]]:
    """Return the largest floor and the smallest ceiling in force, if any."""
    kinds: tuple[tuple[str, str, Callable[..., SizedPeriod]], ...] = (
        ("floor", floor, max),
        ("ceiling", ceiling, min),
    )
    deciding = []
    for kind, text, choose in kinds:
        entries = [entry for entry in sized_periods_of(text) if in_force((entry.period,), now)]
        if entries:
            deciding.append((kind, choose(entries, key=lambda entry: entry.executors)))
    return deciding


@lru_cache(maxsize=64)
def _require_possible(floor: str, ceiling: str) -> None:
    for low, high in product(sized_periods_of(floor), sized_periods_of(ceiling)):
        if low.executors > high.executors and overlap(low.period, high.period):
            raise BadInput(
                f"the floor '{low.period.text} = {low.executors}' is above the ceiling"
                f" '{high.period.text} = {high.executors}' at the same time; lower the floor to"
                f" {high.executors} or less, or change one of the periods"
            )
