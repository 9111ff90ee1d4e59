"""The engine of all protocols: a table of rows, each of which leads from one phase to another if
its condition holds. Pure: takes facts and returns a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, ParamSpec, TypeVar

from rheostat.errors import BadInput

Facts = ParamSpec("Facts")
Order = TypeVar("Order")


@dataclass(frozen=True, slots=True)
class Row(Generic[Facts, Order]):
    """In ``phase``, if ``event`` holds for the facts, give ``order`` (if any) and enter ``to``.

    The event is a function; its name and docstring appear on the generated page.
    """

    phase: str
    event: Callable[Facts, bool]
    to: str
    order: Order | None = None

    def cells(self) -> tuple[str, str, str, str, str]:
        """Return phase, event, next phase, order and the meaning of the event as text."""
        meaning = " ".join((self.event.__doc__ or "").split()).rstrip(".")
        return self.phase, name_of(self.event), self.to, name_of(self.order), meaning


@dataclass(frozen=True, slots=True)
class Table(Generic[Facts, Order]):
    """All rows of a protocol; of a phase's rows, the first whose event holds is taken.

    Raises BadInput when an event occurs twice in a phase, a phase is unreachable from ``start``,
    ``end`` is unreachable from a phase, or a row leaves ``end``.
    """

    start: str
    end: str
    rows: tuple[Row[Facts, Order], ...]

    def __post_init__(self) -> None:
        if self.of(self.end):
            raise BadInput(
                f"{self.end!r} must be final, but {name_of(self.of(self.end)[0].event)!r} leaves it"
            )
        pairs = [(row.phase, row.event) for row in self.rows]
        for phase, event in pairs:
            if pairs.count((phase, event)) > 1:
                raise BadInput(f"the event {name_of(event)!r} occurs twice in phase {phase!r}")
        reachable = _closure({self.start}, ((row.phase, row.to) for row in self.rows))
        ending = _closure({self.end}, ((row.to, row.phase) for row in self.rows))
        for phase in self.phases:
            if phase not in reachable:
                raise BadInput(f"the phase {phase!r} is unreachable from {self.start!r}")
            if phase not in ending:
                raise BadInput(f"no path leads from the phase {phase!r} to {self.end!r}")

    @property
    def phases(self) -> tuple[str, ...]:
        """All phases, in the order of their first occurrence; the end comes last."""
        named = dict.fromkeys(phase for row in self.rows for phase in (row.phase, row.to))
        return (*(phase for phase in named if phase != self.end), self.end)

    def of(self, phase: str) -> tuple[Row[Facts, Order], ...]:
        """Return the rows of a phase in their order."""
        return tuple(row for row in self.rows if row.phase == phase)

    def with_events(self, *events: Callable[Facts, bool]) -> tuple[Row[Facts, Order], ...]:
        """Return the rows of these events, for a pass that considers no others."""
        return tuple(row for row in self.rows if row.event in events)

    def step(
        self, phase: str, *facts: Facts.args, **named: Facts.kwargs
    ) -> Row[Facts, Order] | None:
        """Return the row to take in a phase; None if no event holds."""
        return first_row(self.rows, phase, *facts, **named)


def first_row(
    rows: Iterable[Row[Facts, Order]], phase: str, *facts: Facts.args, **named: Facts.kwargs
) -> Row[Facts, Order] | None:
    """Return the first of these rows that leaves a phase and whose event holds."""
    matching = (row for row in rows if row.phase == phase and row.event(*facts, **named))
    return next(matching, None)


def name_of(part: Any) -> str:
    """Return the name of an event or an order as it appears on a page; empty for None."""
    if part is None:
        return ""
    name: str = part.name.title() if isinstance(part, Enum) else part.__name__
    return name.replace("_", " ")


def _closure(names: set[str], arrows: Iterable[tuple[str, str]]) -> set[str]:
    """Return everything that can be reached along the arrows, cycles included."""
    known = list(arrows)
    while new := {end for begin, end in known if begin in names} - names:
        names = names | new
    return names
