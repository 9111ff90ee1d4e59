"""Sequences whose next value needs the one before, kept so that a workload stays a pure function of
time.
"""

from __future__ import annotations

_SHORTEST = 256


def length_for(n: int) -> int:
    """Return the length of the prefix to make when entry ``n`` is needed: a power of two, so that
    few prefixes are ever made.
    """
    # Doubling makes a whole run cost no more than twice its longest prefix.
    return max(_SHORTEST, 1 << (n + 1).bit_length())
