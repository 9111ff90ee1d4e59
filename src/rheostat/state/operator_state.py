"""Redistribution of Flink's operator state (``RoundRobinOperatorStateRepartitioner``).

``subtasks`` holds the named lists of each old subtask; functions return those of the new ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

from rheostat.errors import BadInput

T = TypeVar("T")
Named: TypeAlias = Mapping[str, Sequence[T]]


def split(subtasks: Sequence[Named[T]], parallelism: int) -> list[dict[str, list[T]]]:
    """Return each list cut into even consecutive pieces; nothing moves at the same parallelism.

    The remainder goes to the first subtasks; the next list begins after them. Raises BadInput for a
    parallelism below 1.
    """
    _check(parallelism)
    # Flink leaves state where it is then, even where the pieces are uneven.
    if len(subtasks) == parallelism:
        return [{name: list(items) for name, items in subtask.items()} for subtask in subtasks]
    pieces: list[dict[str, list[T]]] = [{} for _ in range(parallelism)]
    first = 0
    for name, items in _together(subtasks).items():
        share, rest = divmod(len(items), parallelism)
        begin = 0
        for n in range(parallelism):
            end = begin + share + (n < rest)
            if end > begin:
                pieces[(first + n) % parallelism][name] = items[begin:end]
            begin = end
        first = (first + rest) % parallelism
    return pieces


def union(subtasks: Sequence[Named[T]], parallelism: int) -> list[dict[str, list[T]]]:
    """Return all items for each new subtask; raises BadInput for a parallelism below 1."""
    _check(parallelism)
    return [_together(subtasks) for _ in range(parallelism)]


def broadcast(subtasks: Sequence[Named[T]], parallelism: int) -> list[dict[str, list[T]]]:
    """Return for each new subtask the equal state of an old one; raises BadInput below 1."""
    _check(parallelism)
    if not subtasks:
        return [{} for _ in range(parallelism)]
    return [
        {name: list(items) for name, items in subtasks[n % len(subtasks)].items()}
        for n in range(parallelism)
    ]


def _together(subtasks: Sequence[Named[T]]) -> dict[str, list[T]]:
    items_by_name: dict[str, list[T]] = {}
    for subtask in subtasks:
        for name, items in subtask.items():
            items_by_name.setdefault(name, []).extend(items)
    return items_by_name


def _check(parallelism: int) -> None:
    if parallelism < 1:
        raise BadInput(f"a parallelism must be at least 1, but it is {parallelism}")
