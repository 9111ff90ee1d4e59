"""How many partitions of each query every executor gets, so that the fewest have to move."""

from __future__ import annotations

from collections.abc import Mapping

from rheostat.state.exchange import Counts, exchange


def balanced_counts(
    held: Mapping[str, list[int]], totals: Mapping[str, int], executors: int
) -> Counts:
    """Return the counts after the fewest moves: every executor's sum is the floor or ceiling of the
    mean.

    ``held`` are the present counts, ``totals`` the partitions of each query. The fullest executors
    get the ceiling; ``exchange`` then evens out the queries.
    """
    # Three passes: take off what is above a share, deal what is free, then even the queries out.
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
    """Return the number of partitions that each executor should have in all."""
    share, larger = divmod(total, len(sums))
    # The larger shares go to those that hold most: each of them then keeps one partition more.
    by_size = sorted(range(len(sums)), key=lambda e: (-sums[e], e))
    return [share + (by_size.index(e) < larger) for e in range(len(sums))]


def _most_above_mean(counts: Counts, totals: Mapping[str, int], executor: int) -> str:
    """Return the query of which an executor has most beyond its mean."""
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
