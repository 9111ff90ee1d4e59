"""Which stages of a batch read which, told from the rows that each wrote and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

from rheostat.model import Stage

Page: TypeAlias = Mapping[str, Any]
"""A stage as the REST interface of the driver's UI shows it."""

_MOST_READ = 4
"""So many shuffles at most are tried together: their combinations grow fast."""


def linked(
    stages: Sequence[Stage],
    pages: Sequence[Page],
    sources: Sequence[tuple[str, float]],
) -> tuple[Stage, ...]:
    """Return the stages with their upstreams, and with names that are the same in every batch.

    A page does not tell its upstreams. A stage that reads a shuffle reads those that were written
    before and not yet read, of which the rows add up; all of these where none add up.
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
    """Return for each stage the numbers of those whose shuffle it reads."""
    unread: list[int] = []
    read: list[tuple[int, ...]] = []
    for number, page in enumerate(pages):
        rows = page["shuffleReadRecords"]
        # Bytes without rows are a shuffle, too: empty partitions still have headers.
        writers = _writers(unread, rows, pages) if page["shuffleReadBytes"] or rows else ()
        unread = [writer for writer in unread if writer not in writers]
        if page["shuffleWriteBytes"]:
            unread.append(number)
        read.append(writers)
    return read


def _writers(unread: Sequence[int], rows: int, pages: Sequence[Page]) -> tuple[int, ...]:
    """Return those of the unread shuffles of which the rows add up; all where none do."""
    # Few first: that several add up by chance is the less likely the fewer they are.
    for size in range(1, min(len(unread), _MOST_READ) + 1):
        for some in combinations(unread, size):
            if sum(pages[writer]["shuffleWriteRecords"] for writer in some) == rows:
                return some
    return tuple(unread)


def _sources(
    stages: Sequence[Stage], readers: Sequence[int], sources: Sequence[tuple[str, float]]
) -> dict[int, tuple[str, ...]]:
    """Return which sources a stage reads: the one of a query's only reader are all; of as many,
    those with the nearest rows.
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
        # Every source has one reader, so a source that was taken is out of the choice.
        left.remove((name, read))
        yield reader, (name,)
