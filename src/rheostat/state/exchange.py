"""Exchanges of partitions between executors that lower what a plan costs, until none does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Counts: TypeAlias = dict[str, list[int]]
"""Partitions of each query on each executor, in the order of the executors."""

_Link: TypeAlias = tuple[int, str | None]
"""What it costs to hand one partition on, and of which query it is; None: nothing is handed on, the
sums change places."""

_MOVE = 1_000_000
"""One move weighs more than all unevenness."""


def exchange(counts: Counts, held: Mapping[str, Sequence[int]]) -> bool:
    """Make one cost-reducing exchange along a ring of executors in place; return whether there was
    one.

    The cost is moves away from ``held``, then unevenness within queries; it is convex, so counts
    that no ring improves are optimal (Klein 1967, negative cycles in minimum-cost flows).
    """
    executors = range(len(next(iter(counts.values()))))
    links = {
        (giver, taker): _cheapest(counts, held, giver, taker)
        for giver in executors
        for taker in executors
        if giver != taker
    }
    ring = _negative_ring(
        len(executors), {pair: link[0] for pair, link in links.items() if link is not None}
    )
    for giver, taker in ring:
        query = (links[giver, taker] or (0, None))[1]
        if query is not None:
            counts[query][giver] -= 1
            counts[query][taker] += 1
    return bool(ring)


def _cheapest(
    counts: Counts, held: Mapping[str, Sequence[int]], giver: int, taker: int
) -> _Link | None:
    """Return the cheapest way from giver to taker; None where the giver has nothing."""
    surplus = sum(of_query[taker] - of_query[giver] for of_query in counts.values())
    # Two executors whose sums differ by one may trade places for nothing: both stay balanced.
    links: list[_Link] = [(0, None)] if surplus == 1 else []
    for query, of_query in counts.items():
        if of_query[giver]:
            links.append(
                (
                    _change(of_query, held[query], giver, -1)
                    + _change(of_query, held[query], taker, +1),
                    query,
                )
            )
    return min(links, key=lambda link: link[0], default=None)


def _change(of_query: Sequence[int], held: Sequence[int], executor: int, by: int) -> int:
    """Return what one partition of a query more (or less) on an executor costs."""
    low, rest = divmod(sum(of_query), len(of_query))
    before, after = (
        _cost(of_query[executor] + more, held[executor], low, low + bool(rest)) for more in (0, by)
    )
    return after - before


def _cost(count: int, held: int, low: int, high: int) -> int:
    return _MOVE * max(0, count - held) + max(0, low - count, count - high)


def _negative_ring(nodes: int, costs: Mapping[tuple[int, int], int]) -> list[tuple[int, int]]:
    """Return the links of a ring of negative cost (Bellman-Ford); empty if there is none."""
    distance, before, changed = [0] * nodes, [-1] * nodes, -1
    for _ in range(nodes):
        changed = -1
        for (begin, end), cost in costs.items():
            # All distances begin at 0, as if one more node led everywhere: any negative ring is
            # found.
            if distance[begin] + cost < distance[end]:
                distance[end], before[end], changed = distance[begin] + cost, begin, end
        if changed < 0:
            return []
    for _ in range(nodes):  # so far back the walk is inside the ring
        changed = before[changed]
    ring: list[tuple[int, int]] = []
    node = changed
    while not ring or node != changed:
        ring.append((before[node], node))
        node = before[node]
    return ring
