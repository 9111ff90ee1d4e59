"""A load of levels."""

from __future__ import annotations

from dataclasses import dataclass, field

from rheostat.errors import BadInput
from rheostat_lab.loads.value_checks import above, at_least


@dataclass(frozen=True, slots=True)
class Steps:
    """One level after the other for ``hold_s`` seconds each; the last one continues."""

    levels: tuple[float, ...] = field(
        default=(500.0, 2000.0, 500.0), metadata={"help": "rates, in their order", "unit": "rows/s"}
    )
    hold_s: float = field(default=60.0, metadata={"help": "time at each level", "unit": "s"})

    def __post_init__(self) -> None:
        if not self.levels:
            raise BadInput(
                "levels must hold at least one rate, such as 500,2000,500, but it is empty"
            )
        at_least(0, **{f"levels[{i}]": level for i, level in enumerate(self.levels)})
        above(0, hold_s=self.hold_s)

    @property
    def duration_s(self) -> float:
        """Seconds until the end of the last level."""
        return self.hold_s * len(self.levels)

    def rate_per_s(self, t_s: float) -> float:
        """Return the level at ``t_s``."""
        step = int(max(0.0, t_s) / self.hold_s)
        return self.levels[min(step, len(self.levels) - 1)]
