"""Starting: keeps the initial size until the backlog from before the start is gone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.capacity.initial_size import backlog_size
from rheostat.model import Decision, Memory, Observation

LONGEST_S = 1800.0
"""Maximum seconds for which the initial size is kept; by then the policy has better data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """Keeps at least the initial size, and what the backlog needs, until the initial backlog is
    gone.

    It is gone when the age of its rows and the last batch are within ``slo_s``, or after
    ``LONGEST_S``. If the capacity is unknown, a backlog older than the SLO requires ``ceiling``
    executors. ``since_s`` identifies the start; the memory of an earlier start is ignored.
    """

    executors: int
    ceiling: int
    since_s: float
    slo_s: float
    capacity_rows_per_s: float | None = None
    reports_lag: bool = False
    name: str = "starting"

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, but not below the initial size during the start."""
        same_start = memory.get("since_s") == self.since_s
        floor = max(memory["floor"] if same_start else self.executors, self._needed(observation))
        over = (same_start and memory["over"]) or self._is_over(observation, now)
        kept = {"since_s": self.since_s, "floor": floor, "over": over}
        if over or decision.target >= floor:
            return decision, kept
        reason = f"{decision.reason}; not below the initial size of {floor} until the backlog is"
        return replace(decision, target=floor, reason=f"{reason} gone"), kept

    def _needed(self, now: Observation) -> int:
        """Return the executors that the initial backlog needs; 0 if unknown or after a batch."""
        if not now.lag_rows or now.batch_s is not None:
            return 0
        if self.capacity_rows_per_s:
            size = backlog_size(now.lag_rows, self.capacity_rows_per_s, self.slo_s)
            return min(size, self.ceiling)
        is_late = now.input_rows_per_s is not None and not self._is_recent(now)
        return self.ceiling if is_late else 0

    def _is_over(self, now: Observation, now_s: float) -> bool:
        if now_s - self.since_s >= LONGEST_S:
            return True
        if now.batch_s is None or now.batch_s > self._within_s(now):
            return False
        return not self.reports_lag if now.lag_rows is None else self._is_recent(now)

    def _is_recent(self, now: Observation) -> bool:
        """Return whether the rows of the backlog arrived within the objective."""
        return (now.lag_rows or 0.0) <= (now.input_rows_per_s or 0.0) * self._within_s(now)

    def _within_s(self, now: Observation) -> float:
        # Even without a backlog, rows wait for up to two triggers.
        return max(self.slo_s, 2 * (now.trigger_s or 0.0))
