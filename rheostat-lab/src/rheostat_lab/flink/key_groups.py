"""Flink's key groups (``KeyGroupRangeAssignment``, ``MathUtils``) and its lists of operator state.

Keys belong to one of ``max_parallelism`` groups; subtasks hold contiguous ranges of groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

from rheostat.errors import BadInput

T = TypeVar("T")
Named: TypeAlias = Mapping[str, Sequence[T]]
"""The items of a subtask by the name of their list."""


def split(subtasks: Sequence[Named[T]], parallelism: int) -> list[dict[str, list[T]]]:
    """Return each list cut into even consecutive pieces; nothing moves at the same parallelism.

    The remainder goes to the first subtasks; the next list starts after them. Raises BadInput for a
    parallelism below 1.
    """
    _check(parallelism)
    # Flink then leaves state where it is, even if the pieces are uneven.
    if len(subtasks) == parallelism:
        return [{name: list(items) for name, items in subtask.items()} for subtask in subtasks]
    pieces: list[dict[str, list[T]]] = [{} for _ in range(parallelism)]
    first = 0
    for name, items in together(subtasks).items():
        share, rest = divmod(len(items), parallelism)
        begin = 0
        for n in range(parallelism):
            end = begin + share + (n < rest)
            if end > begin:
                pieces[(first + n) % parallelism][name] = items[begin:end]
            begin = end
        first = (first + rest) % parallelism
    return pieces


def together(subtasks: Sequence[Named[T]]) -> dict[str, list[T]]:
    """Return the items of all subtasks by name."""
    items_by_name: dict[str, list[T]] = {}
    for subtask in subtasks:
        for name, items in subtask.items():
            items_by_name.setdefault(name, []).extend(items)
    return items_by_name


def union(subtasks: Sequence[Named[T]], parallelism: int) -> list[dict[str, list[T]]]:
    """Return all items for each new subtask; raises BadInput for a parallelism below 1."""
    _check(parallelism)
    return [together(subtasks) for _ in range(parallelism)]


def broadcast(subtasks: Sequence[Named[T]], parallelism: int) -> list[dict[str, list[T]]]:
    """Return for each new subtask the identical state of an old one; raises BadInput below 1."""
    _check(parallelism)
    if not subtasks:
        return [{} for _ in range(parallelism)]
    return [
        {name: list(items) for name, items in subtasks[n % len(subtasks)].items()}
        for n in range(parallelism)
    ]


def _check(parallelism: int) -> None:
    if parallelism < 1:
        raise BadInput(f"a parallelism must be at least 1, but it is {parallelism}")


UPPER_BOUND_MAX_PARALLELISM = 1 << 15
LOWER_BOUND_MAX_PARALLELISM = 1 << 7
_MASK = 0xFFFFFFFF


def murmur_hash(code: int) -> int:
    """Return Flink's hash of a 32-bit integer, 0 to 2**31 - 1 (``MathUtils.murmurHash``)."""
    code = code * 0xCC9E2D51 & _MASK
    code = (code << 15 | code >> 17) & _MASK
    code = code * 0x1B873593 & _MASK
    code = (code << 13 | code >> 19) & _MASK
    code = (code * 5 + 0xE6546B64) & _MASK
    # The length of the hashed value in bytes, which MurmurHash3 mixes in at its end.
    code ^= 4
    code = (code ^ code >> 16) * 0x85EBCA6B & _MASK
    code = (code ^ code >> 13) * 0xC2B2AE35 & _MASK
    signed = _signed(code ^ code >> 16)
    # Java's Math.abs of the smallest int is itself; Flink gives it 0.
    return abs(signed) if signed != -(1 << 31) else 0


def java_string_hash(text: str) -> int:
    """Return Java's ``String.hashCode``: over UTF-16 units, as a signed 32-bit integer."""
    code = 0
    # Java hashes UTF-16 units, so a character outside the basic plane counts as two.
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (code * 31 + (high << 8 | low)) & _MASK
    return _signed(code)


def key_group(key: int | str, max_parallelism: int) -> int:
    """Return the key group of a 32-bit int or a string; raises BadInput for others."""
    _check_max(max_parallelism)
    if isinstance(key, str):
        return murmur_hash(java_string_hash(key)) % max_parallelism
    if not -(1 << 31) <= key < 1 << 31:
        raise BadInput(f"a key must be a string or fit 32 bits, but it is {key}")
    return murmur_hash(key) % max_parallelism


def operator_index(group: int, max_parallelism: int, parallelism: int) -> int:
    """Return the subtask that holds a key group: ``group * parallelism // max_parallelism``."""
    return group * parallelism // max_parallelism


def key_group_range(max_parallelism: int, parallelism: int, index: int) -> range:
    """Return the key groups of a subtask; empty if there are more subtasks than key groups."""
    if not 0 <= index < parallelism:
        raise BadInput(f"a subtask's index must be 0 to {parallelism - 1}, but it is {index}")
    # Rounded up, the inverse of operator_index: the two must agree for every group.
    first = (index * max_parallelism + parallelism - 1) // parallelism
    return range(first, ((index + 1) * max_parallelism - 1) // parallelism + 1)


def default_max_parallelism(parallelism: int) -> int:
    """Return Flink's default maximum parallelism: 1.5 times, as a power of 2, 128 to 32768."""
    _check(parallelism)
    rounded = 1 << (parallelism + parallelism // 2 - 1).bit_length()
    return min(max(rounded, LOWER_BOUND_MAX_PARALLELISM), UPPER_BOUND_MAX_PARALLELISM)


def _signed(code: int) -> int:
    return code - (1 << 32) if code >> 31 else code


def _check_max(max_parallelism: int) -> None:
    if not 1 <= max_parallelism <= UPPER_BOUND_MAX_PARALLELISM:
        raise BadInput(
            f"the maximum parallelism must be 1 to {UPPER_BOUND_MAX_PARALLELISM}, but it is"
            f" {max_parallelism}"
        )
