"""Parses Java properties files: ``spark-defaults.conf`` and those of Kafka clients."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAME = re.compile(r"(?:\\.|[^\\=:\s])*")
_SEPARATOR = re.compile(r"\s*[=:]\s*|\s+")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Property:
    """A name, its value (None without a separator), and the number of its first line."""

    line: int
    name: str
    value: str | None


def properties(text: str) -> Iterator[Property]:
    """Yield the properties of a text (``java.util.Properties``), duplicates included."""
    for number, line in _logical(text):
        name = _NAME.match(line)
        end = name.end() if name else 0
        separator = _SEPARATOR.match(line, end)
        value = _without_blanks_after(line[separator.end() :]) if separator else None
        yield Property(number, _plain(line[:end]), None if value is None else _plain(value))


def _logical(text: str) -> Iterator[tuple[int, str]]:
    """Yield logical lines, joined with their continuations, and the number of the first line."""
    begun, first = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.lstrip()
        # In a continuation line, # is part of the value.
        if not begun and (not line or line[0] in "#!"):
            continue
        first = first if begun else number
        if _is_continued(line):
            begun += line[:-1]
            continue
        yield first, begun + line
        begun = ""
    if begun:
        yield first, begun


def _is_continued(line: str) -> bool:
    # An even number of trailing backslashes is a sequence of escaped backslashes.
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _without_blanks_after(value: str) -> str:
    kept = value.rstrip()
    # Keep an escaped trailing blank: without it the value would end with its backslash.
    return value[: len(kept) + 1] if _is_continued(kept) else kept


def _plain(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    return chr(int(escaped[1:], 16)) if len(escaped) == 5 else _NAMED.get(escaped, escaped)
