"""Sums and multiples of workloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.errors import BadInput
from rheostat.workloads.check import above
from rheostat.workloads.workload import Workload, marks


@dataclass(frozen=True, slots=True)
class Sum:
    """The rates of all ``parts``, as long as the longest; raises BadInput without parts."""

    parts: tuple[Workload, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise BadInput("a sum of workloads needs one at least, but it has none")

    @property
    def duration_s(self) -> float | None:
        """Seconds until the last part ends; None if one never ends."""
        ends = [part.duration_s for part in self.parts]
        return None if None in ends else max(end for end in ends if end is not None)

    @property
    def marks(self) -> Mapping[str, float]:
        """The marks of all parts; of two with one name that of the first part."""
        # Later entries win in a dictionary, so the first part comes last.
        return {name: t_s for part in reversed(self.parts) for name, t_s in marks(part).items()}

    def rate_per_s(self, t_s: float) -> float:
        """Return the sum of the rates at ``t_s``."""
        return sum(part.rate_per_s(t_s) for part in self.parts)


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
        # Only time is compressed, not the rows: a day at double speed brings half of them.
        return self.factor * self.load.rate_per_s(t_s * self.speed)
