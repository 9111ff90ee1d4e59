"""The names of executors, which are numbers for every cluster manager."""

from __future__ import annotations

from collections.abc import Iterable


def oldest_first(executors: Iterable[str]) -> list[str]:
    """Return executors by their numbers, the smallest first: Spark counts up."""
    return sorted(executors, key=lambda executor: (len(executor), executor))
