"""Derives which stages of a batch read from which, from the rows that each wrote and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

from rheostat.model import Stage

Page: TypeAlias = Mapping[str, Any]
"""A stage in the REST interface of the driver's UI."""

_MOST_READ = 4
"""The maximum number of shuffles that are tried together: their combinations grow fast."""


def linked(
    stages: Sequence[Stage],
    pages: Sequence[Page],
    sources: Sequence[tuple[str, float]],
) -> tuple[Stage, ...]:
    """Return the stages with their upstreams, and with names that are the same in every batch.

    A page does not contain its upstreams. A stage that reads a shuffle is linked to the earlier,
    unread shuffles whose rows add up to its own; to all of these if no combination adds up.
    """
    names = [f"stage {number}" for number in range(len(stages))]
    read = _shuffles_read(pages)
    readers = [number for number, writers in enumerate(read) if not writers]
    of_sources = _sources(stages, readers, sources)
    upstream = [
        tuple(names[writer] for writer in writers) or of_sources.get(number, ())
        for number, writers in enumerate(read)
    ]
    return tuple(
        replace(stage, name=name, upstream=above)
        for stage, name, above in zip(stages, names, upstream, strict=True)
    )


def _shuffles_read(pages: Sequence[Page]) -> list[tuple[int, ...]]:
    """Return for each stage the numbers of the stages whose shuffle it reads."""
    unmatched: list[int] = []
    read: list[tuple[int, ...]] = []
    for number, page in enumerate(pages):
        rows = page["shuffleReadRecords"]
        # Bytes without rows also indicate a shuffle: empty partitions still have headers.
        writers = _writers(unmatched, rows, pages) if page["shuffleReadBytes"] or rows else ()
        unmatched = [writer for writer in unmatched if writer not in writers]
        if page["shuffleWriteBytes"]:
            unmatched.append(number)
        read.append(writers)
    return read


def _writers(unmatched: Sequence[int], rows: int, pages: Sequence[Page]) -> tuple[int, ...]:
    """Return the unread shuffles whose rows add up; all of them if no combination does."""
    # Small combinations come first: fewer shuffles are less likely to add up by chance.
    for size in range(1, min(len(unmatched), _MOST_READ) + 1):
        for some in combinations(unmatched, size):
            if sum(pages[writer]["shuffleWriteRecords"] for writer in some) == rows:
                return some
    return tuple(unmatched)


def _sources(
    stages: Sequence[Stage], readers: Sequence[int], sources: Sequence[tuple[str, float]]
) -> dict[int, tuple[str, ...]]:
    """Return which sources each stage reads: a single reader reads all; if there are as many
    readers as sources, each reads the source with the nearest number of rows.
    """
    if len(readers) == 1:
        return {readers[0]: tuple(name for name, _ in sources)}
    return dict(_nearest(stages, readers, sources)) if len(readers) == len(sources) else {}


def _nearest(
    stages: Sequence[Stage], readers: Sequence[int], sources: Sequence[tuple[str, float]]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    left = list(sources)
    for reader in readers:
        rows = stages[reader].rows_in or 0.0
        name, read = min(left, key=lambda source: abs(source[1] - rows))
        # Every source has one reader, so an assigned source is removed from the candidates.
        left.remove((name, read))
        yield reader, (name,)
