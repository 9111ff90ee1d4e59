"""Rows and rates of a source that counts in its own units and whose rows arrive in portions."""

from __future__ import annotations

from dataclasses import dataclass

from rheostat.signals.latency import Points

_KEPT_SHARE = 0.9
"""Weight that a batch leaves to earlier ones; the last ten batches count for two thirds."""

PORTIONS = 4
"""Number of arrivals over which the rate is averaged."""


@dataclass(frozen=True, slots=True)
class RowsPerUnit:
    """The rows per byte, file or offset, learned from the batches that were read."""

    rows: float = 0.0
    units: float = 0.0

    def after_batch(self, rows: float, units: float) -> RowsPerUnit:
        """Return it with one more batch; a batch that read nothing does not count."""
        if units <= 0:
            return self
        return RowsPerUnit(rows + _KEPT_SHARE * self.rows, units + _KEPT_SHARE * self.units)

    @property
    def ratio(self) -> float | None:
        """Rows per unit; None before the first batch with data."""
        return self.rows / self.units if self.units else None


def with_arrival(arrivals: Points, t_s: float, total: float) -> Points:
    """Return the latest points at which the total grew, at most ``PORTIONS`` after the first."""
    if arrivals and total <= arrivals[-1][1]:
        return arrivals if total == arrivals[-1][1] else ((t_s, total),)
    return (*arrivals[-PORTIONS:], (t_s, total))


def arrival_rate(arrivals: Points, now: float) -> float | None:
    """Return the units per second over the last arrivals; None before the second one.

    An unusually long pause counts, so that the rate falls while nothing arrives.
    """
    if len(arrivals) < 2:
        return None
    (first_s, first), (last_s, last) = arrivals[0], arrivals[-1]
    usual_s = (last_s - first_s) / (len(arrivals) - 1)
    until_s = last_s if now - last_s <= 1.5 * usual_s else now
    return (last - first) / (until_s - first_s)
