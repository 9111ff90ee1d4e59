"""The executor of each state partition, in a form that is short enough for a journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rheostat.model import Places
from rheostat.state.assignment import Unit

_QUERY_DIGITS = 8


def places_of(holders: Mapping[Unit, str | None]) -> Places:
    """Return the partitions of each executor by query; those without a known holder are omitted."""
    numbers: dict[str, dict[str, list[int]]] = {}
    for (query, partition), executor in sorted(holders.items(), key=lambda item: item[0]):
        if executor is not None:
            of_query = numbers.setdefault(query[:_QUERY_DIGITS], {})
            of_query.setdefault(executor, []).append(partition)
    return {
        query: {executor: ",".join(_ranges(held)) for executor, held in of_query.items()}
        for query, of_query in numbers.items()
    }


def holders_of(places: Places) -> dict[Unit, str]:
    """Return the executor of each state partition."""
    return {
        (query, partition): executor
        for query, of_query in places.items()
        for executor, ranges in of_query.items()
        for first, _, last in (part.partition("-") for part in ranges.split(","))
        for partition in range(int(first), int(last or first) + 1)
    }


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    """Yield ascending numbers as ``5`` or ``5-8``."""
    first = numbers[0]
    for number, following in zip(numbers, (*numbers[1:], None), strict=True):
        if following != number + 1:
            yield str(first) if first == number else f"{first}-{number}"
            first = following or 0
