"""Cost of a rescale, learned per job: start time of executors and their cold first batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rheostat.tuning import TUNING, Tuning


@dataclass(frozen=True, slots=True, kw_only=True)
class RescaleCost:
    """The start time of executors (a lognormal), and how much longer their first batch takes."""

    observed_s: float | None = None
    """Time of the last observation."""

    target: int = 0
    executors: int = 0
    requested: Sequence[Sequence[float]] = ()
    """(time, executors) of each request whose executors have not started."""

    is_lost: bool = False
    """Whether requested executors have not started for a long time."""

    first_start_s: float = 12.0
    """Start time of the application's first executor; until it is known, a value between the 3 s of
    Standalone and the minute of YARN and Kubernetes."""

    start_log: float | None = None
    """Logarithm of the median start time in seconds; None before the first start."""

    variance: float = 0.49
    """Variance of the logarithm of the start time."""

    cold_s: float = 2.0
    """Extra duration of the first batch on new executors: class loading and state."""

    @property
    def start_s(self) -> float:
        """The median start time, at least the time since the oldest pending request."""
        awaited_s = (self.observed_s or 0.0) - self.requested[0][0] if self.requested else 0.0
        return max(self._median_s, awaited_s)

    @property
    def _median_s(self) -> float:
        return self.first_start_s if self.start_log is None else math.exp(self.start_log)

    def start_within_s(self, z: float) -> float:
        """Return the start time ``z`` standard deviations above the median."""
        return self.start_s * math.exp(z * math.sqrt(self.variance))

    def pending(self, now_s: float, z: float) -> list[tuple[float, int]]:
        """Return (seconds from now, executors) for each pending request, the earliest first.

        An overdue request is expected after another half of the time it has been pending.
        """
        expected_s = self._median_s * math.exp(z * math.sqrt(self.variance))
        pending, soonest_s = [], 0.0
        for requested_s, target in self.requested:
            awaited_s = now_s - requested_s
            soonest_s = max(soonest_s, expected_s - awaited_s, 0.5 * awaited_s)
            pending.append((soonest_s, int(target)))
        return pending

    def observe(
        self, t_s: float, target: int, executors: int, tuning: Tuning = TUNING
    ) -> RescaleCost:
        """Return the cost after an observation.

        A start begins at the observation before the first one with the higher target. It ends
        between the first observation with that many executors and the one before; within this
        interval the expected duration is assumed.
        """
        before_s = t_s if self.observed_s is None else self.observed_s
        requested = [request for request in self.requested if request[1] <= target]
        if self.observed_s is not None and target > max(self.target, self.executors):
            requested.append((before_s, target))
        started = [request for request in requested if request[1] <= executors]
        lost = [request for request in requested if not 0 <= t_s - request[0] < tuning.lost_s]
        learned = replace(
            self,
            observed_s=t_s,
            target=target,
            executors=executors,
            requested=[item for item in requested if item not in started and item not in lost],
            is_lost=executors < target and (bool(lost) or self.is_lost),
        )
        for requested_s, _ in started:
            if t_s > requested_s:
                learned = learned.with_start(before_s - requested_s, t_s - requested_s, tuning)
        return learned

    def with_first_start(self, start_s: float, tuning: Tuning = TUNING) -> RescaleCost:
        """Return the cost with the start time of the application's first executor, if plausible."""
        return replace(self, first_start_s=start_s) if 0 < start_s < tuning.lost_s else self

    def with_cold_batch(self, longer_s: float, tuning: Tuning = TUNING) -> RescaleCost:
        """Return the cost after a first batch on new executors that took ``longer_s`` longer."""
        more_s = tuning.size_weight * (max(0.0, longer_s) - self.cold_s)
        return replace(self, cold_s=self.cold_s + more_s)

    def with_start(self, least_s: float, most_s: float, tuning: Tuning) -> RescaleCost:
        """Return the cost after a start that took between ``least_s`` and ``most_s``."""
        before = math.log(self._median_s)
        off = math.log(min(max(self._median_s, least_s), most_s)) - before
        share = tuning.start_weight * (2 if self.start_log is None else 1)
        variance = (1 - share) * (self.variance + share * off * off)
        return replace(self, start_log=before + share * off, variance=variance)
