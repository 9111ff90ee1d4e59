"""A load of recorded rates."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from rheostat.errors import BadInput
from rheostat_lab.loads.value_checks import above, at_least


@dataclass(frozen=True, slots=True)
class Trace:
    """Recorded rates in rows/s, each held until the next sample (the last one as long as its
    predecessor).

    ``time_scale`` 0.5 plays at double speed, ``rate_scale`` 0.5 halves the rates. Raises BadInput
    for fewer than two samples, times that do not increase, and negative rates.
    """

    times_s: tuple[float, ...] = field(
        default=(), metadata={"help": "times of the samples", "unit": "s"}
    )
    rates: tuple[float, ...] = field(
        default=(), metadata={"help": "rates of the samples", "unit": "rows/s"}
    )
    time_scale: float = field(
        default=1.0, metadata={"help": "stretches time by this factor", "unit": "1"}
    )
    rate_scale: float = field(default=1.0, metadata={"help": "multiplies the rates", "unit": "1"})

    def __post_init__(self) -> None:
        if len(self.times_s) != len(self.rates) or len(self.times_s) < 2:
            sizes = f"{len(self.times_s)} times and {len(self.rates)} rates"
            raise BadInput(
                f"a trace needs two samples or more, a rate for each time, but it has {sizes}"
            )
        for i, (early, late) in enumerate(zip(self.times_s, self.times_s[1:], strict=False), 1):
            if not late > early:
                raise BadInput(
                    f"the times of a trace must rise, but times_s[{i}] is {late} after {early}"
                )
        at_least(
            0,
            rate_scale=self.rate_scale,
            **{f"rates[{i}]": rate for i, rate in enumerate(self.rates)},
        )
        above(0, time_scale=self.time_scale)

    @property
    def duration_s(self) -> float:
        """Seconds until the end of the last sample, scaled."""
        # The last sample has no successor, so it is held as long as the one before it.
        return (2 * self.times_s[-1] - self.times_s[-2] - self.times_s[0]) * self.time_scale

    def rate_per_s(self, t_s: float) -> float:
        """Return the scaled rate of the sample at ``t_s``; 0 outside the recording."""
        if not 0 <= t_s < self.duration_s:
            return 0.0
        sample = bisect_right(self.times_s, self.times_s[0] + t_s / self.time_scale) - 1
        return self.rates[sample] * self.rate_scale
