"""A constant rate."""

from __future__ import annotations

from dataclasses import dataclass, field

from rheostat.workloads.check import at_least


@dataclass(frozen=True, slots=True)
class Constant:
    """``rate`` rows per second at every moment."""

    rate: float = field(default=1000.0, metadata={"help": "arrival rate", "unit": "rows/s"})

    def __post_init__(self) -> None:
        at_least(0, rate=self.rate)

    @property
    def duration_s(self) -> None:
        """None: the load never ends."""
        return None

    def rate_per_s(self, t_s: float) -> float:
        """Return the rate."""
        return self.rate
