"""A straight line fitted one point at a time, from running means and moments that fit in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from rheostat.signals.statistics.windows import deriv, mean


@dataclass(frozen=True, slots=True)
class Line:
    """y = mean_y + slope (x - mean_x) over ``n`` points; the spreads are sums of deviations."""

    n: float = 0.0
    mean_x: float = 0.0
    mean_y: float = 0.0
    spread_x: float = 0.0
    spread_xy: float = 0.0

    def with_point(self, x: float, y: float) -> Line:
        """Return the line with one more point (Welford's update)."""
        n = self.n + 1
        mean_x, mean_y = self.mean_x + (x - self.mean_x) / n, self.mean_y + (y - self.mean_y) / n
        return Line(
            n,
            mean_x,
            mean_y,
            self.spread_x + (x - self.mean_x) * (x - mean_x),
            self.spread_xy + (x - self.mean_x) * (y - mean_y),
        )

    def at(self, x: float) -> float:
        """Return y at ``x``; while all x are the same, y in proportion to x."""
        if self.spread_x < 1e-6:
            # Points at a single x have no slope; a line through the origin is the best estimate.
            return self.mean_y / self.mean_x * x if self.mean_x > 1e-6 else self.mean_y
        return self.mean_y + self.spread_xy / self.spread_x * (x - self.mean_x)

    def plain(self) -> dict[str, float]:
        """Return the line as JSON values."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, float]) -> Line:
        """Return the line that ``plain`` was made from; a new line for an empty mapping."""
        return cls(**plain)


def trend(samples: Sequence[tuple[float, float]], ahead_s: float, step_s: float) -> list[float]:
    """Return the least-squares line every ``step_s`` up to ``ahead_s`` after the last sample."""
    slope, level = deriv(samples) or 0.0, mean(samples) or 0.0
    middle_s = mean([(t, t) for t, _ in samples]) or 0.0
    last_s = samples[-1][0] if samples else 0.0
    return [
        max(0.0, level + slope * (last_s + step_s * n - middle_s))
        for n in range(1, int(ahead_s / step_s) + 1)
    ]
