"""The queue of rows that wait, by age: which of them arrived last, and since when."""

from __future__ import annotations

import math
from itertools import pairwise

from rheostat.signals.statistics.windows import Samples


def newest(
    rates: Samples, rows: float = math.inf, seconds: float = math.inf
) -> tuple[float, float]:
    """Return (rows, seconds) of the newest arrivals: at most so many rows, none older than so many
    seconds.

    ``rates`` are (t_s, rows per second since the sample before), oldest first; before the first
    sample its rate is taken to hold. Rows that no rate accounts for, because it was 0 before, are
    left out; without ``rates`` none arrived.
    """
    found = age_s = 0.0
    # The first rate holds since ever, so that a young window does not bound the queue.
    for (since_s, _), (t_s, rate) in reversed(list(pairwise([(-math.inf, 0.0), *rates]))):
        left_s = min(
            t_s - since_s, seconds - age_s, max(0.0, rows - found) / rate if rate > 0 else math.inf
        )
        # An endless stretch at rate 0 has no rows and no end: it is left out.
        if left_s < math.inf:
            found, age_s = found + rate * left_s, age_s + left_s
    return min(found, rows), age_s
