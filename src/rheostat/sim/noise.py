"""Independent streams of random factors with mean 1."""

from __future__ import annotations

import numpy as np

# One draw at a time would cost far more than its share of a block.
_BLOCK = 4096


def streams(seed: int, count: int) -> list[np.random.Generator]:
    """Return independent generators of one seed; the first is for arrivals."""
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(count)]


class Noise:
    """Lognormal factors of mean 1 and spread ``sigma``; 1 exactly where ``sigma`` is 0."""

    def __init__(self, generator: np.random.Generator, sigma: float) -> None:
        self._generator, self._sigma = generator, sigma
        self._drawn: list[float] = []
        self._next = 0

    def take(self, count: int) -> list[float]:
        """Return the next factors."""
        # No draw at all: a plant without noise is exact, whatever its seed.
        if self._sigma == 0:
            return [1.0] * count
        if self._next + count > len(self._drawn):
            # The shift makes the mean of the lognormal 1: noise must not make the job slower.
            drawn = self._generator.normal(-(self._sigma**2) / 2, self._sigma, max(_BLOCK, count))
            self._drawn, self._next = self._drawn[self._next :] + np.exp(drawn).tolist(), 0
        self._next += count
        return self._drawn[self._next - count : self._next]
