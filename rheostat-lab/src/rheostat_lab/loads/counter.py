"""Counter-based random numbers: the n-th draw is a function of (seed, lane, n), so that any split
of the work gives the same data.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bits: TypeAlias = NDArray[np.uint64]
Numbers: TypeAlias = NDArray[np.int64]

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_TO_UNIT = 2.0**-53


def bits_at(seed: int, lane: int, n: int) -> int:
    """Return draw ``n`` of a lane as 64 random bits.

    A lane is one stream of draws, such as a column. Source: Steele, Lea and Flood, "Fast splittable
    pseudorandom number generators" (OOPSLA 2014), the output function of SplitMix64 on the counter
    ``key + (n + 1) * golden ratio``.
    """
    # n + 1, because SplitMix64 steps before its first output.
    return _mix((_key(seed, lane) + (n + 1) * _GOLDEN) & _MASK)


def uniform_at(seed: int, lane: int, n: int) -> float:
    """Return draw ``n`` of a lane as a number in [0, 1)."""
    # The upper 53 bits, which a float represents exactly, so that 1 is never reached.
    return (bits_at(seed, lane, n) >> 11) * _TO_UNIT


def bits(seed: int, lane: int, n: Numbers) -> Bits:
    """Return ``bits_at`` for every counter of the array ``n``, with the same shape."""
    # In place from here on: uint64 wraps like the mask does for Python integers.
    z = n.astype(np.uint64)
    z += np.uint64(1)
    z *= np.uint64(_GOLDEN)
    z += np.uint64(_key(seed, lane))
    z ^= z >> np.uint64(30)
    z *= np.uint64(_MIX_1)
    z ^= z >> np.uint64(27)
    z *= np.uint64(_MIX_2)
    z ^= z >> np.uint64(31)
    return z


def uniform(seed: int, lane: int, n: Numbers) -> NDArray[np.float64]:
    """Return ``uniform_at`` for every counter of the array ``n``, with the same shape."""
    drawn = bits(seed, lane, n)
    drawn >>= np.uint64(11)
    draws = drawn.astype(np.float64)
    draws *= _TO_UNIT
    return draws


def below(seed: int, lane: int, n: Numbers, bound: int | Numbers) -> Numbers:
    """Return an integer in [0, bound) for every counter of ``n``; ``bound`` is one number or one
    per counter, below 2**53.
    """
    draws = uniform(seed, lane, n)
    draws *= bound
    return draws.astype(np.int64)


def _key(seed: int, lane: int) -> int:
    # Mixed twice, so that neighboring seeds and lanes share no draws.
    return _mix((_mix((seed + _GOLDEN) & _MASK) + lane * _GOLDEN) & _MASK)


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * _MIX_1) & _MASK
    z = ((z ^ (z >> 27)) * _MIX_2) & _MASK
    return z ^ (z >> 31)
