"""Sequences whose values depend on the previous one, cached so that a workload remains a pure
function of time.
"""

from __future__ import annotations

_SHORTEST = 256


def length_for(n: int) -> int:
    """Return the length of the prefix to compute for entry ``n``: a power of two, so that there are
    few prefixes.
    """
    # With doubling, a complete run costs at most twice its longest prefix.
    return max(_SHORTEST, 1 << (n + 1).bit_length())
