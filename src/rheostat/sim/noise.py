"""Independent streams of random factors with mean 1."""

from __future__ import annotations

import numpy as np

# Drawing a block is far cheaper than drawing its numbers one by one.
_BLOCK = 4096


def streams(seed: int, count: int) -> list[np.random.Generator]:
    """Return ``count`` independent generators of one seed; the first is for arrivals."""
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(count)]


class Noise:
    """Lognormal factors of mean 1 and spread ``sigma``; exactly 1 if ``sigma`` is 0."""

    def __init__(self, generator: np.random.Generator, sigma: float) -> None:
        self._generator, self._sigma = generator, sigma
        self._drawn: list[float] = []
        self._next = 0

    def take(self, count: int) -> list[float]:
        """Return the next ``count`` factors."""
        # Draw nothing: a plant without noise is exact for every seed.
        if self._sigma == 0:
            return [1.0] * count
        if self._next + count > len(self._drawn):
            # The shift makes the lognormal mean 1, so that noise does not slow the job down.
            drawn = self._generator.normal(-(self._sigma**2) / 2, self._sigma, max(_BLOCK, count))
            self._drawn, self._next = self._drawn[self._next :] + np.exp(drawn).tolist(), 0
        self._next += count
        return self._drawn[self._next - count : self._next]
