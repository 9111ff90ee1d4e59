"""Executor ids, which are numbers with every cluster manager."""

from __future__ import annotations

from collections.abc import Iterable


def oldest_first(executors: Iterable[str]) -> list[str]:
    """Return executors sorted by number, oldest first, because Spark counts up."""
    return sorted(executors, key=lambda executor: (len(executor), executor))
