"""Assigns state partitions to executors: with minimal movement, or in contiguous ranges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from rheostat.errors import BadInput

Unit: TypeAlias = tuple[str, int]
"""The run id of a query and a state partition: all stores of all stateful operators of that
partition, which move together."""

Counts: TypeAlias = dict[str, list[int]]
"""The number of partitions of each query on each executor, in the order of the executors."""

_Link: TypeAlias = tuple[int, str | None]
"""The cost of passing on one partition, and its query; None: no partition is passed on, the sums
are swapped."""

_MOVE = 1_000_000
"""One move outweighs all imbalance."""


def exchange(counts: Counts, held: Mapping[str, Sequence[int]]) -> bool:
    """Make one cost-reducing exchange along a ring of executors in place; return whether there was
    one.

    The cost is moves away from ``held``, then imbalance within queries; it is convex, so counts
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
    """Return the cheapest link from giver to taker; None if the giver has no partition."""
    surplus = sum(of_query[taker] - of_query[giver] for of_query in counts.values())
    # Two executors whose sums differ by one may swap them at no cost: both stay balanced.
    links: list[_Link] = [(0, None)] if surplus == 1 else []
    for query, of_query in counts.items():
        if of_query[giver]:
            given = _change(of_query, held[query], giver, -1)
            links.append((given + _change(of_query, held[query], taker, +1), query))
    return min(links, key=lambda link: link[0], default=None)


def _change(of_query: Sequence[int], held: Sequence[int], executor: int, by: int) -> int:
    """Return the cost of one partition of a query more (or less) on an executor."""
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
            # All distances start at 0, as from an extra node with links to all, so any negative
            # ring is found.
            if distance[begin] + cost < distance[end]:
                distance[end], before[end], changed = distance[begin] + cost, begin, end
        if changed < 0:
            return []
    for _ in range(nodes):  # after this many steps back the walk is inside the ring
        changed = before[changed]
    ring: list[tuple[int, int]] = []
    node = changed
    while not ring or node != changed:
        ring.append((before[node], node))
        node = before[node]
    return ring


def balance_weights(
    current: Mapping[Unit, str | None], executors: Sequence[str], weights: Mapping[Unit, float]
) -> dict[Unit, str]:
    """Return an assignment whose loads differ by at most the largest weight.

    Unheld units go to the least loaded executor, heaviest first (Graham's LPT rule); then the most
    loaded one passes the unit nearest to half their difference to the least loaded one.
    """
    weight = _filled(current, weights)
    assigned = {
        unit: str(holder)
        for unit, holder in sorted(current.items(), key=lambda item: item[0])
        if holder in executors
    }
    load = {
        executor: sum(weight[unit] for unit in assigned if assigned[unit] == executor)
        for executor in executors
    }
    for unit in sorted(
        (unit for unit in current if unit not in assigned), key=lambda unit: (-weight[unit], unit)
    ):
        lightest = min(executors, key=lambda e: load[e])
        assigned[unit] = lightest
        load[lightest] += weight[unit]
    # Slightly above the largest weight: sums in another order differ in their last digits, and the
    # loop would pass one unit back and forth forever.
    tolerance = max(weight.values()) * (1 + 1e-9)
    while (gap := max(load.values()) - min(load.values())) > tolerance:
        giver, taker = max(executors, key=lambda e: load[e]), min(executors, key=lambda e: load[e])
        # Units without weight change no load: moving them would never end.
        movable = [unit for unit in assigned if assigned[unit] == giver and weight[unit] > 0]
        given = min(movable, key=lambda unit: (abs(weight[unit] - gap / 2), unit))
        assigned[given] = taker
        load[giver] -= weight[given]
        load[taker] += weight[given]
    return assigned


def _filled(current: Mapping[Unit, str | None], weights: Mapping[Unit, float]) -> dict[Unit, float]:
    known = [weights[unit] for unit in current if unit in weights]
    mean = sum(known) / len(known)
    return {unit: max(0.0, weights.get(unit, mean)) for unit in current}


def balanced_counts(
    held: Mapping[str, list[int]], totals: Mapping[str, int], executors: int
) -> Counts:
    """Return the counts after the fewest moves: every executor's sum is the floor or ceiling of the
    mean.

    ``held`` are the present counts, ``totals`` the partitions of each query. The fullest executors
    get the ceiling; ``exchange`` then balances the queries.
    """
    # Three passes: remove what exceeds a share, distribute free units, then balance the queries.
    counts = {query: list(held[query]) for query in sorted(totals)}
    shares = _shares(_sums(counts, executors), sum(totals.values()))
    for e, share in enumerate(shares):
        for _ in range(_sums(counts, executors)[e] - share):
            counts[_most_above_mean(counts, totals, e)][e] -= 1
    for query, total in totals.items():
        for _ in range(total - sum(counts[query])):
            counts[query][_neediest(counts, query, shares)] += 1
    while len(counts) > 1 and exchange(counts, held):
        pass
    return counts


def _sums(counts: Mapping[str, list[int]], executors: int) -> list[int]:
    return [sum(of_query[e] for of_query in counts.values()) for e in range(executors)]


def _shares(sums: list[int], total: int) -> list[int]:
    """Return the total number of partitions that each executor should have."""
    share, larger = divmod(total, len(sums))
    # The larger shares go to those that hold most: each of them keeps one more partition.
    by_size = sorted(range(len(sums)), key=lambda e: (-sums[e], e))
    return [share + (by_size.index(e) < larger) for e in range(len(sums))]


def _most_above_mean(counts: Counts, totals: Mapping[str, int], executor: int) -> str:
    """Return the query whose count on an executor exceeds its mean the most."""
    present = [query for query in counts if counts[query][executor]]
    return max(
        present, key=lambda query: counts[query][executor] - totals[query] / len(counts[query])
    )


def _neediest(counts: Counts, query: str, shares: list[int]) -> int:
    """Return the executor below its share that has the fewest partitions of this query."""
    lacking = [
        share - total for share, total in zip(shares, _sums(counts, len(shares)), strict=True)
    ]
    return min(
        (e for e in range(len(shares)) if lacking[e] > 0),
        key=lambda e: (counts[query][e], -lacking[e], e),
    )


__all__ = ["Unit", "contiguous", "minimal_movement", "moves"]


def minimal_movement(
    current: Mapping[Unit, str | None],
    executors: Sequence[str],
    weights: Mapping[Unit, float] | None = None,
) -> dict[Unit, str]:
    """Return an executor for every unit: balanced first, then with as few moves as possible.

    ``current`` names each unit's holder (a unit with None or an unknown one must move). Without
    weights all queries together are balanced to within one unit with the fewest moves, then each
    query on its own; with weights (rows or bytes, missing ones count as the mean) to within the
    largest weight. Ties follow the order of ``executors``. Raises BadInput without executors and
    for duplicates.
    """
    _check(executors)
    # If every weight is 0 (a job that has just started), the units count the same.
    if weights and any(weights.get(unit, 0.0) > 0 for unit in current):
        return balance_weights(current, executors, weights)
    held = _by_query(current, executors)
    wanted = balanced_counts(
        {query: [len(held[query].get(e, ())) for e in executors] for query in held},
        Counter(query for query, _ in sorted(current)),
        len(executors),
    )
    return _dealt(current, executors, wanted)


def contiguous(units: Sequence[Unit], executors: Sequence[str]) -> dict[Unit, str]:
    """Return contiguous ranges of each query's partitions, as Flink assigns key groups.

    A rescale moves about half of them. Raises BadInput as ``minimal_movement`` does.
    """
    _check(executors)
    wanted: dict[Unit, str] = {}
    for query in sorted({query for query, _ in units}):
        # Separately per query: its ranges are independent of other queries' keys.
        own = sorted(unit for unit in set(units) if unit[0] == query)
        wanted |= {unit: executors[n * len(executors) // len(own)] for n, unit in enumerate(own)}
    return wanted


def moves(current: Mapping[Unit, str | None], wanted: Mapping[Unit, str]) -> tuple[Unit, ...]:
    """Return the units that are not at their desired location, in order."""
    return tuple(sorted(unit for unit, executor in wanted.items() if current.get(unit) != executor))


def _check(executors: Sequence[str]) -> None:
    if not executors:
        raise BadInput("state needs at least 1 executor to be assigned to, but there is none")
    if len(set(executors)) < len(executors):
        raise BadInput(f"executors must be named once each, but they are {', '.join(executors)}")


def _by_query(
    current: Mapping[Unit, str | None], executors: Sequence[str]
) -> dict[str, dict[str, list[Unit]]]:
    """Return the units by query, and those of a query by their living holder."""
    held: dict[str, dict[str, list[Unit]]] = {}
    for unit in sorted(current):
        holder = current[unit]
        of_query = held.setdefault(unit[0], {})
        if holder in executors:
            of_query.setdefault(str(holder), []).append(unit)
    return held


def _dealt(
    current: Mapping[Unit, str | None], executors: Sequence[str], wanted: Counts
) -> dict[Unit, str]:
    """Return the units for the counts: executors keep their first ones, the surplus moves."""
    assigned: dict[Unit, str] = {}
    for query, by_executor in _by_query(current, executors).items():
        for executor, count in zip(executors, wanted[query], strict=True):
            assigned.update(dict.fromkeys(by_executor.get(executor, [])[:count], executor))
        # In order, so that equal facts yield the same plan at every step and in every replay.
        left = [unit for unit in sorted(current) if unit[0] == query and unit not in assigned]
        for executor, count in zip(executors, wanted[query], strict=True):
            lacking = count - len(by_executor.get(executor, [])[:count])
            assigned.update(dict.fromkeys(left[:lacking], executor))
            left = left[lacking:]
    return assigned
