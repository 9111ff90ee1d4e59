"""How many state partitions to propose where there are fewer of them than slots."""

from __future__ import annotations


def proposed_count(partitions: int, slots: int) -> int:
    """Return the least multiple of ``partitions`` that every slot gets one of.

    With a multiple each partition is split by itself, so a repartition needs no shuffle. Both are
    at least 1.
    """
    # Division of the negative number rounds up.
    return -(-slots // partitions) * partitions
