"""A linear ramp from one rate to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rheostat_lab.loads.value_checks import above, at_least


@dataclass(frozen=True, slots=True)
class Ramp:
    """``low`` until ``begin_s``, then linear to ``high`` within ``ramp_s`` seconds, which
    continues; low may be above high.
    """

    low: float = field(default=500.0, metadata={"help": "rate before the ramp", "unit": "rows/s"})
    high: float = field(default=2000.0, metadata={"help": "rate after the ramp", "unit": "rows/s"})
    begin_s: float = field(default=60.0, metadata={"help": "when the ramp begins", "unit": "s"})
    ramp_s: float = field(default=10.0, metadata={"help": "how long it takes", "unit": "s"})

    def __post_init__(self) -> None:
        at_least(0, low=self.low, high=self.high, begin_s=self.begin_s)
        above(0, ramp_s=self.ramp_s)

    @property
    def duration_s(self) -> None:
        """None, because the second rate never ends."""
        return None

    @property
    def marks(self) -> Mapping[str, float]:
        """Begin and end of the ramp, in seconds from the start."""
        return {"ramp_start_s": self.begin_s, "ramp_end_s": self.begin_s + self.ramp_s}

    def rate_per_s(self, t_s: float) -> float:
        """Return the rate at ``t_s``."""
        share = min(1.0, max(0.0, (t_s - self.begin_s) / self.ramp_s))
        return self.low + share * (self.high - self.low)
