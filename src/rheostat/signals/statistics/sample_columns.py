"""A window of samples as columns: one row of times, and columns of values per name."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Column: TypeAlias = Sequence[float | None]
Columns: TypeAlias = Mapping[str, Sequence[Column]]
"""Per name its columns, each as long as the row of times; an absent value is None."""


def extended(
    times: Sequence[float],
    columns: Columns,
    now: float,
    row: Mapping[str, Sequence[float | None]],
    window_s: float,
) -> tuple[list[float], dict[str, list[list[float | None]]]]:
    """Return times and columns with one more sample, within now - window_s <= t <= now.

    A new name has absent values before; one that is not in ``row`` is dropped.
    """
    first, end = bisect_left(times, now - window_s), bisect_right(times, now)
    absent = [None] * len(times)
    grown = {
        name: [
            [*column[first:end], value]
            for column, value in zip(
                # Every column is as long as the row of times, so a new name has a past of absent
                # values.
                columns.get(name) or [absent] * len(values),
                values,
                strict=True,
            )
        ]
        for name, values in row.items()
    }
    return [*times[first:end], now], grown
