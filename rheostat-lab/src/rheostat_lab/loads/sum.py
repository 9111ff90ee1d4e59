"""The sum of loads."""

from __future__ import annotations

from dataclasses import dataclass

from rheostat.errors import BadInput
from rheostat.sim.workload import Workload


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of the rates of ``parts``, as long as the longest; raises BadInput without parts."""

    parts: tuple[Workload, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise BadInput("a sum of workloads needs at least one, but it has none")

    @property
    def duration_s(self) -> float | None:
        """Seconds until the last part ends; None if one never ends."""
        ends = [part.duration_s for part in self.parts]
        return None if None in ends else max(end for end in ends if end is not None)

    def rate_per_s(self, t_s: float) -> float:
        """Return the sum of the rates at ``t_s``."""
        return sum(part.rate_per_s(t_s) for part in self.parts)
