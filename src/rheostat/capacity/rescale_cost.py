"""What a rescale costs, learned per job: the start time of executors, and their cold batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

_START_SHARE, _FIRST_START_SHARE, _COLD_SHARE = 0.4, 0.8, 0.3
"""Weights of the newest start, of the first one, and of the newest cold batch."""

_LOST_S = 300.0
"""Executors that do not start within this time are not expected any more."""


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
    """Start time of the driver's own first executor; before: between Standalone's 3 s and a minute
    of YARN and Kubernetes."""

    start_log: float | None = None
    """Logarithm of the median start time in seconds; None before the first start."""

    variance: float = 0.49
    """Of the logarithm of the start time."""

    cold_s: float = 2.0
    """How much longer the first batch on new executors takes: class loading, state."""

    @property
    def start_s(self) -> float:
        """The median start time, at least the time for which executors have been awaited."""
        awaited_s = (self.observed_s or 0.0) - self.requested[0][0] if self.requested else 0.0
        return max(self._median_s, awaited_s)

    @property
    def _median_s(self) -> float:
        return self.first_start_s if self.start_log is None else math.exp(self.start_log)

    def start_within_s(self, z: float) -> float:
        """Return the start time that is not exceeded by ``z`` standard deviations."""
        return self.start_s * math.exp(z * math.sqrt(self.variance))

    def pending(self, now_s: float, z: float) -> list[tuple[float, int]]:
        """Return (seconds from now, executors) for all requests, the soonest first.

        Overdue executors are expected after half the time again for which they have been awaited.
        """
        expected_s = replace(self, requested=()).start_within_s(z)
        pending, soonest_s = [], 0.0
        for requested_s, target in self.requested:
            awaited_s = now_s - requested_s
            soonest_s = max(soonest_s, expected_s - awaited_s, 0.5 * awaited_s)
            pending.append((soonest_s, int(target)))
        return pending

    def observe(self, t_s: float, target: int, executors: int) -> RescaleCost:
        """Return what is known after an observation.

        A start lasts from the observation before the first one of a higher target until between the
        first observation with as many executors and the one before it: as long as was expected, as
        far as that allows.
        """
        before_s = t_s if self.observed_s is None else self.observed_s
        requested = [request for request in self.requested if request[1] <= target]
        if self.observed_s is not None and target > max(self.target, self.executors):
            requested.append((before_s, target))
        started = [request for request in requested if request[1] <= executors]
        lost = [request for request in requested if not 0 <= t_s - request[0] < _LOST_S]
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
                learned = learned.with_start(before_s - requested_s, t_s - requested_s)
        return learned

    def with_first_start(self, start_s: float) -> RescaleCost:
        """Return what is known once the start time of the application's first executor is."""
        return replace(self, first_start_s=start_s) if 0 < start_s < _LOST_S else self

    def with_cold_batch(self, longer_s: float) -> RescaleCost:
        """Return what is known after a first batch on new executors that took so much longer."""
        more_s = _COLD_SHARE * (max(0.0, longer_s) - self.cold_s)
        return replace(self, cold_s=self.cold_s + more_s)

    def with_start(self, least_s: float, most_s: float) -> RescaleCost:
        """Return what is known after a start that took between so many seconds."""
        before = math.log(self._median_s)
        off = math.log(min(max(self._median_s, least_s), most_s)) - before
        share = _FIRST_START_SHARE if self.start_log is None else _START_SHARE
        variance = (1 - share) * (self.variance + share * off * off)
        return replace(self, start_log=before + share * off, variance=variance)
