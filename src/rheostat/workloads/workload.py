"""The protocol of a workload: an arrival rate over time, and the rows due by a moment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol, runtime_checkable


class Workload(Protocol):
    """An arrival rate over time; frozen, and a pure function of its parameters and of time."""

    @property
    def duration_s(self) -> float | None:
        """Seconds after which the profile ends or repeats; None if it never ends."""
        ...

    def rate_per_s(self, t_s: float) -> float:
        """Return the rows per second at ``t_s`` seconds from the start, never negative."""
        ...


@runtime_checkable
class Marked(Protocol):
    """A workload with moments that have a name."""

    @property
    def marks(self) -> Mapping[str, float]:
        """Seconds from the start, by name."""
        ...


def marks(workload: Workload) -> Mapping[str, float]:
    """Return a workload's named moments in seconds from the start; empty if it has none."""
    return workload.marks if isinstance(workload, Marked) else {}


class DueRows:
    """Counts the rows due: the integral of the rate by midpoints of ``step_s``."""

    def __init__(self, workload: Workload, step_s: float = 0.05) -> None:
        self._workload = workload
        self._step_s = step_s
        self._steps = 0
        self._rows = 0.0

    def until(self, t_s: float) -> int:
        """Return the whole rows due from 0 to ``t_s``, which must not decrease between calls."""
        while (self._steps + 1) * self._step_s <= t_s:
            self._rows += self._rate() * self._step_s
            self._steps += 1
        rest_s = max(0.0, t_s - self._steps * self._step_s)
        # A sum of many steps such as 0.05 s ends a hair below the whole number it stands for.
        return math.floor(self._rows + self._rate() * rest_s + 1e-6)

    def _rate(self) -> float:
        return self._workload.rate_per_s((self._steps + 0.5) * self._step_s)


def rows_until(workload: Workload, t_s: float, step_s: float = 0.05) -> int:
    """Return the rows due from 0 to ``t_s`` seconds, with the rate held for steps of ``step_s``."""
    return DueRows(workload, step_s).until(t_s)
