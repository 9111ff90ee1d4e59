"""The errors of a specification with their lines and places, and the grid that its lists span."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

from rheostat.errors import BadInput
from rheostat.plural import counted


class SpecErrors:
    """Collects the errors of the specification ``name``, whose places are at these lines."""

    def __init__(self, name: str, lines: Mapping[str, int]) -> None:
        self.name, self._lines = name, lines
        self._wrong: list[tuple[int, str]] = []

    def raise_errors(self) -> None:
        """Raise BadInput with all errors, if there are any."""
        if self._wrong:
            count = counted(len(self._wrong), "error")
            raise BadInput(
                "\n".join(
                    (f"{self.name} has {count}:", *(message for _, message in sorted(self._wrong)))
                )
            )

    def mapping(self, place: str, given: Any, such: str) -> Iterator[tuple[str, Any]]:
        """Yield the entries of what must be a mapping with at least one entry, such as ``such``."""
        if not (isinstance(given, dict) and given):
            self.add(place, f"is a mapping with one entry at least, such as {such}")
            return
        yield from ((str(name), value) for name, value in given.items())

    def number(self, place: str, value: Any, above: float | None) -> float | None:
        """Return a number that is above ``above`` (None: at least 0); None for anything else."""
        if is_number(value) and (value > above if above is not None else value >= 0):
            return float(value)
        shown = "missing" if value is None else repr(value)
        self.add(
            place,
            f"must be a number {'above' if above is not None else 'of at least'} 0, but it is"
            f" {shown}",
        )
        return None

    def unknown(self, given: Mapping[str, Any], known: set[str], place: str) -> None:
        """Record the unknown names at this place."""
        for name in given:
            if name not in known:
                self.add(
                    f"{place}.{name}".lstrip("."),
                    f"is not known here; there are {', '.join(sorted(known))}",
                )

    def attempt(self, place: str, make: Callable[[], Any]) -> Any:
        """Return the created object; None if that fails, which is recorded as an error."""
        try:
            return make()
        except BadInput as wrong:
            self.add(place, str(wrong))
        except (TypeError, ValueError, OverflowError) as wrong:
            self.add(place, f"has a value of the wrong type ({wrong})")
        return None

    def add(self, place: str, message: str) -> None:
        """Record an error at a place of the specification."""
        near = place
        # The line of the nearest place in the text, because a missing entry has no line of its own.
        while near and near not in self._lines:
            near = near.rpartition(".")[0]
        line = self._lines.get(near, 1)
        text = f"  line {line}, {place}: {message}"
        # A grid reports the same error for each of its combinations.
        if (line, text) not in self._wrong:
            self._wrong.append((line, text))


def is_number(value: Any) -> bool:
    """Return whether a value is a number that a float can hold; true and false are not."""
    # By comparison, which is also False for NaN: a YAML integer may be too large for a float, and
    # isfinite raises for it.
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    )


def lines_of(node: Any, place: str) -> Iterator[tuple[str, int]]:
    """Yield the line of every place of a YAML document."""
    if place:
        yield place, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = f"{place}.{key.value}".lstrip(".")
            yield name, key.start_mark.line + 1
            yield from ((where, line) for where, line in lines_of(value, name) if where != name)
    if isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from lines_of(value, f"{place}[{number}]")


def grid_of(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every combination of the values of lists; a value without a list is in all of them."""
    lists = [value if isinstance(value, list) else [value] for value in given.values()]
    for values in itertools.product(*lists):
        yield dict(zip(given, values, strict=True))
