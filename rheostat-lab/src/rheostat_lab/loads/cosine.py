"""A cosine with noise: the load of the published comparison of stream autoscalers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rheostat_lab.loads.counter import uniform_at
from rheostat_lab.loads.value_checks import above, at_least

_LANE = 101


@dataclass(frozen=True, slots=True)
class Cosine:
    """rate_i = U(-noise, noise) + shift + amplitude x cos(2 pi i hold_s / period_s), held for
    ``hold_s`` seconds, clipped at 0.

    With the default hold of 60 s, i counts minutes; the noise of step i is a function of (seed, i).
    Defaults: the thesis' q1 (150 k +- 100 k, noise 10 k, period one hour).

    Source: Koper, "A Comparison of Auto-scaling Techniques for Distributed Stream Processing",
    section 4; ESPA (DEBS 2024).
    """

    shift: float = field(default=150_000.0, metadata={"help": "mean rate", "unit": "rows/s"})
    amplitude: float = field(
        default=100_000.0, metadata={"help": "height of the cosine", "unit": "rows/s"}
    )
    noise: float = field(
        default=10_000.0,
        metadata={"help": "noise is uniform between minus and plus this", "unit": "rows/s"},
    )
    period_s: float = field(default=3600.0, metadata={"help": "length of one wave", "unit": "s"})
    hold_s: float = field(
        default=60.0, metadata={"help": "the rate is held for this long", "unit": "s"}
    )
    seed: int = field(default=7, metadata={"help": "seed of the noise", "unit": "1"})

    def __post_init__(self) -> None:
        at_least(0, shift=self.shift, amplitude=self.amplitude, noise=self.noise)
        above(0, period_s=self.period_s, hold_s=self.hold_s)

    @property
    def duration_s(self) -> None:
        """None, because the load never ends."""
        return None

    def rate_per_s(self, t_s: float) -> float:
        """Return the rate of the step that contains ``t_s``."""
        # The wave is held with the noise, because the published load changes once a minute.
        i = math.floor(t_s / self.hold_s)
        noise = self.noise * (2 * uniform_at(self.seed, _LANE, i) - 1)
        wave = self.amplitude * math.cos(2 * math.pi * i * self.hold_s / self.period_s)
        return max(0.0, noise + self.shift + wave)
