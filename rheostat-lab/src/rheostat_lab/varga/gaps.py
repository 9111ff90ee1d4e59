"""The downtime for a reader of the output, from the ends of batches alone, so that it is the same
measure for every way to change a size.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median


def downtime_s(ends_s: Sequence[float], ordered_s: float, settled_s: float) -> float | None:
    """Return the longest pause between the ends of two batches from the request of a change until
    it had settled, minus the usual pause before; None if fewer than three batches ended before, or
    none after.

    ``ends_s`` are in order. Fails when the batches before the request are not those of a steady
    job.
    """
    usual = [late - early for early, late in pairwise(ends_s) if late <= ordered_s]
    pauses = [
        late - early for early, late in pairwise(ends_s) if late > ordered_s and early <= settled_s
    ]
    if len(usual) < 2 or not pauses:
        return None
    return max(0.0, max(pauses) - median(usual))
