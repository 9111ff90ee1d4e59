from __future__ import annotations

import numpy as np

from rheostat_lab.loads import counter

N = np.arange(200_000)


def test_the_mixing_function_matches_the_published_one() -> None:
    # The first output of SplitMix64 with state 0.
    assert counter._mix(counter._GOLDEN) == 0xE220A8397B1DCDAF


def test_draws_are_uniform() -> None:
    counts = np.bincount((counter.uniform(7, 1, N) * 100).astype(int), minlength=100)
    chi_square = float(((counts - 2000) ** 2 / 2000).sum())
    assert 55 < chi_square < 155  # 99 degrees of freedom: 99 +- 4 x 14


def test_lanes_seeds_and_neighbours_are_uncorrelated() -> None:
    first = counter.uniform(7, 1, N)
    for other in (counter.uniform(7, 2, N), counter.uniform(8, 1, N), counter.uniform(7, 1, N + 1)):
        assert abs(np.corrcoef(first, other)[0, 1]) < 4 / np.sqrt(len(N))


def test_integers_cover_their_range() -> None:
    assert set(counter.below(7, 1, N, 5).tolist()) == {0, 1, 2, 3, 4}
    bounds = 1 + N % 3
    assert (counter.below(7, 1, N, bounds) < bounds).all()
