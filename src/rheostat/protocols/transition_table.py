"""A protocol as a table: which event leads from which phase to which, and what is ordered on the
way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from rheostat.errors import BadInput


@dataclass(frozen=True, slots=True)
class Transition:
    """In ``phase``, when ``event`` holds: give the order of that name (if any) and go to ``to``."""

    phase: str
    event: str
    to: str
    order: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """All transitions of a protocol; of those of a phase the first whose event holds is taken.

    Raises BadInput when an event stands twice in a phase, a phase cannot be reached from ``start``,
    ``end`` cannot be reached from a phase, or something leads on from ``end``.
    """

    start: str
    end: str
    transitions: tuple[Transition, ...]

    def __post_init__(self) -> None:
        pairs = [(transition.phase, transition.event) for transition in self.transitions]
        for phase, event in pairs:
            if pairs.count((phase, event)) > 1:
                raise BadInput(
                    f"the event {event!r} must stand once in phase {phase!r}, but it stands"
                    f" {pairs.count((phase, event))} times"
                )
        # Checked when the table is loaded: a protocol that cannot end is found by any import.
        if self.of(self.end):
            raise BadInput(
                f"the last phase must be final, but {self.of(self.end)[0].event!r} leads on from"
                f" {self.end!r}"
            )
        reachable = _closure(
            {self.start}, ((transition.phase, transition.to) for transition in self.transitions)
        )
        ending = _closure(
            {self.end}, ((transition.to, transition.phase) for transition in self.transitions)
        )
        for phase in self.phases:
            if phase not in reachable:
                raise BadInput(
                    f"every phase must be reachable from {self.start!r}, but {phase!r} is not"
                )
            if phase not in ending:
                raise BadInput(
                    f"every phase must have a way to {self.end!r}, but {phase!r} has none"
                )

    @property
    def phases(self) -> tuple[str, ...]:
        """All phases, in the order in which they first stand in the table; the end is the last."""
        named = dict.fromkeys(
            name for transition in self.transitions for name in (transition.phase, transition.to)
        )
        return (*(name for name in named if name != self.end), self.end)

    @property
    def events(self) -> tuple[str, ...]:
        """All events, in the order in which they first stand in the table."""
        return tuple(dict.fromkeys(transition.event for transition in self.transitions))

    def of(self, phase: str) -> tuple[Transition, ...]:
        """Return the transitions of a phase in their order."""
        return tuple(transition for transition in self.transitions if transition.phase == phase)

    def after(self, phase: str, events: Collection[str]) -> Transition | None:
        """Return the first transition of a phase among those of ``events``; None where there is
        none.
        """
        return next(
            (transition for transition in self.of(phase) if transition.event in events), None
        )

    def mermaid(self, phases: Collection[str]) -> str:
        """Return the part of the table between ``phases`` as a Mermaid state diagram."""
        shown = [
            transition
            for transition in self.transitions
            if transition.phase in phases and transition.to in phases
        ]
        lines = [
            f"    {row.phase} --> {row.to}: {row.event}{f' / {row.order}' if row.order else ''}"
            for row in shown
        ]
        first = [f"    [*] --> {self.start}"] if self.start in phases else []
        last = [f"    {self.end} --> [*]"] if self.end in phases else []
        return "\n".join(["stateDiagram-v2", *first, *lines, *last])

    def rows(self, words: Mapping[str, str]) -> str:
        """Return the whole table in Markdown, with what each event means in ``words``."""
        body = [
            f"| {row.phase} | {row.event} | {row.to} | {row.order} | {words[row.event]} |"
            for row in self.transitions
        ]
        return "\n".join(
            [
                "| phase | event | next | order | the event holds when |",
                "|---|---|---|---|---|",
                *body,
            ]
        )


def _closure(names: set[str], arrows: Iterable[tuple[str, str]]) -> set[str]:
    """Return everything that can be reached along the arrows."""
    known = list(arrows)
    # A fixed point: ends when a turn adds no phase, cycles included.
    while new := {end for begin, end in known if begin in names} - names:
        names = names | new
    return names
