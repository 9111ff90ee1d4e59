"""A workload at another rate or speed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.sim.workload import Workload
from rheostat_lab.loads.marks import marks
from rheostat_lab.loads.value_checks import above


@dataclass(frozen=True, slots=True)
class Scaled:
    """A workload with ``factor`` times the rows per second, played ``speed`` times as fast."""

    load: Workload
    factor: float = 1.0
    speed: float = 1.0

    def __post_init__(self) -> None:
        above(0, factor=self.factor, speed=self.speed)

    @property
    def duration_s(self) -> float | None:
        """Seconds at this speed; None if it never ends."""
        duration_s = self.load.duration_s
        return None if duration_s is None else duration_s / self.speed

    @property
    def marks(self) -> Mapping[str, float]:
        """The marks at this speed."""
        return {name: t_s / self.speed for name, t_s in marks(self.load).items()}

    def rate_per_s(self, t_s: float) -> float:
        """Return the scaled rate at ``t_s``."""
        # Only time is compressed, not the rows: a day at double speed has half the rows.
        return self.factor * self.load.rate_per_s(t_s * self.speed)
