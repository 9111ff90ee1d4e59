"""Which executor holds which state partition: by minimal movement, or in contiguous ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rheostat.errors import BadInput
from rheostat.state import key_groups
from rheostat.state.counts import balanced_counts
from rheostat.state.exchange import Counts
from rheostat.state.units import Unit
from rheostat.state.weighted import balance_weights

__all__ = ["Unit", "contiguous", "minimal_movement", "moves"]


def minimal_movement(
    current: Mapping[Unit, str | None],
    executors: Sequence[str],
    weights: Mapping[Unit, float] | None = None,
) -> dict[Unit, str]:
    """Return an executor for every unit: balanced first, then with as few moves as possible.

    ``current`` names each unit's holder (None or an unknown one: it must move). Without weights all
    queries together are balanced to within one unit with the fewest moves, then each query by
    itself; with weights (rows or bytes, missing ones count as the mean) to within the largest
    weight. Ties go by the order of ``executors``. Raises BadInput without or with duplicate
    executors.
    """
    _check(executors)
    # Where every weight is 0 (a job that has just begun) the units count the same.
    if weights and any(weights.get(unit, 0.0) > 0 for unit in current):
        return balance_weights(current, executors, weights)
    held = _by_query(current, executors)
    wanted = balanced_counts(
        {query: [len(held[query].get(e, ())) for e in executors] for query in held},
        _totals(current),
        len(executors),
    )
    return _dealt(current, executors, wanted)


def contiguous(units: Sequence[Unit], executors: Sequence[str]) -> dict[Unit, str]:
    """Return contiguous ranges of each query's partitions, as Flink assigns key groups.

    A change of size moves about half of them. Raises BadInput as ``minimal_movement`` does.
    """
    _check(executors)
    wanted: dict[Unit, str] = {}
    for query in sorted({query for query, _ in units}):
        # Each query by itself: a range of one query says nothing of where another's keys are.
        own = sorted(unit for unit in set(units) if unit[0] == query)
        wanted.update(
            {
                unit: executors[key_groups.operator_index(n, len(own), len(executors))]
                for n, unit in enumerate(own)
            }
        )
    return wanted


def moves(current: Mapping[Unit, str | None], wanted: Mapping[Unit, str]) -> tuple[Unit, ...]:
    """Return the units that are not where they are wanted, in order."""
    return tuple(sorted(unit for unit, executor in wanted.items() if current.get(unit) != executor))


def _check(executors: Sequence[str]) -> None:
    if not executors:
        raise BadInput("state needs at least 1 executor to be assigned to, but there is none")
    if len(set(executors)) < len(executors):
        raise BadInput(f"executors must be named once each, but they are {', '.join(executors)}")


def _totals(current: Mapping[Unit, str | None]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for query, _ in sorted(current):
        totals[query] = totals.get(query, 0) + 1
    return totals


def _by_query(
    current: Mapping[Unit, str | None], executors: Sequence[str]
) -> dict[str, dict[str, list[Unit]]]:
    """Group the units by query, and those of a query by their living holder."""
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
    """Turn counts into units: each executor keeps its first ones, the surplus fills the others."""
    assigned: dict[Unit, str] = {}
    for query, by_executor in _by_query(current, executors).items():
        for executor, count in zip(executors, wanted[query], strict=True):
            assigned.update(dict.fromkeys(by_executor.get(executor, [])[:count], executor))
        # In order, so that the same facts give the same plan at every step and in every replay.
        left = [unit for unit in sorted(current) if unit[0] == query and unit not in assigned]
        for executor, count in zip(executors, wanted[query], strict=True):
            lacking = count - len(by_executor.get(executor, [])[:count])
            assigned.update(dict.fromkeys(left[:lacking], executor))
            left = left[lacking:]
    return assigned
