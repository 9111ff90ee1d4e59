"""A concave curve measured on a real engine gives the right size in one step after two
observations.

The points are of Nexmark query 1 on Flink, measured by ContTune's authors (VLDB 2023).
"""

import math
from itertools import pairwise

import numpy as np

from rheostat.capacity.identify import Batches

POINTS = {
    1: 529_573,
    2: 966_817,
    4: 1_829_696,
    6: 2_535_503,
    7: 2_936_889,
    8: 3_118_478,
    10: 3_721_099,
    14: 4_624_714,
    15: 4_967_828,
    20: 6_350_677,
    21: 6_465_250,
    25: 7_089_387,
    26: 7_476_392,
}
BATCH_S = 10.0


def capacity(slots: float) -> float:
    for (low, below), (high, above) in pairwise(POINTS.items()):
        if low <= slots <= high:
            return below + (above - below) * (slots - low) / (high - low)
    return POINTS[26]


def right_size(rate: float) -> int:
    return next(slots for slots in range(1, 27) if capacity(slots) >= rate)


def requested_size(rate: float, sizes: tuple[int, int], rng: np.random.Generator) -> int:
    """Return the requested size after batches on two sizes, each three times with 5 % noise."""
    learned = Batches()
    for slots in sizes:
        for _ in range(3):
            noise = math.exp(rng.normal(0.0, 0.05))
            learned = learned.with_batch(BATCH_S * noise, capacity(slots) * BATCH_S, slots, None)
    fitted = learned.identified()
    assert fitted is not None
    sustained = fitted.model.sustained_rows_per_s
    return next(slots for slots in range(1, 99) if sustained(slots, 1e4, 0.0) >= rate)


def test_the_size_is_correct_in_one_step_and_rarely_two_too_large() -> None:
    over, enough = [], []
    rng = np.random.default_rng(5)
    for draw in range(100):
        sizes = ((4, 8), (6, 10))[draw % 2]  # predictions end at 1.5 times the larger one
        rate = float(rng.uniform(capacity(sizes[1]), capacity(1.4 * sizes[1])))
        requested = requested_size(rate, sizes, rng)
        over.append(requested - right_size(rate))
        enough.append(capacity(requested) >= 0.95 * rate)
    assert sum(excess <= 1 for excess in over) >= 90
    assert sum(abs(excess) <= 1 for excess in over) >= 90
    assert sum(enough) >= 90
