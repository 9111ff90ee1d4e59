"""What the rescale protocol remembers between two steps: plain values, so that a restarted
controller continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rheostat.protocols.executors.executor_lifecycle import DONE, GOING
from rheostat.protocols.executors.phase_limits import Waits
from rheostat.state.units import Unit

_SCHEMA = 1

_FORMER_PHASES = {"settled": "ready", "victim": "candidate"}
"""Phases by the names that journals of earlier versions contain."""

_RESTING = DONE | {"standby", "leaving", "killed"}
"""Phases that no batch boundary ends."""


@dataclass(frozen=True, slots=True)
class Life:
    """Where an executor stands: its phase, since when, failed tries in a row, units when it was
    chosen to leave, fewest since.
    """

    phase: str
    since_s: float
    tries: int = 0
    units: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The lives of the registered executors, where state is wanted, and the last batch boundary;
    empty at the start.
    """

    lives: Mapping[str, Life] = field(default_factory=dict)
    batch: int | None = None
    boundary_s: float | None = None
    wanted: Mapping[Unit, str] = field(default_factory=dict)
    takers: tuple[str, ...] = ()
    """The executors among which ``wanted`` is balanced."""

    sent: Mapping[Unit, str] = field(default_factory=dict)
    """What was assigned since the last boundary, to be verified after the next."""

    replacing: Mapping[str, float] = field(default_factory=dict)
    """Executors to be replaced, and since when."""

    def to_json(self) -> dict[str, Any]:
        """Return this memory as JSON values."""
        lives = {
            executor: [life.phase, life.since_s, life.tries, life.units, life.left]
            for executor, life in self.lives.items()
        }
        return {
            "schema": _SCHEMA,
            "lives": lives,
            "batch": self.batch,
            "boundary_s": self.boundary_s,
            "wanted": _rows(self.wanted),
            "takers": list(self.takers),
            "sent": _rows(self.sent),
            "replacing": dict(self.replacing),
        }

    def resumed(self, now_s: float) -> Memory:
        """Return the memory with which a new controller continues: the clocks of all phases
        restart, and so do the batches and the verification.

        A hidden executor that was not asked to leave may stay: a new controller has decided
        nothing yet.
        """
        lives = {
            executor: replace(
                life,
                since_s=now_s,
                # Back to the last phase with a way back; the order to hide is given again if need
                # be.
                phase="emptying" if life.phase == "hidden" else life.phase,
            )
            for executor, life in self.lives.items()
        }
        return replace(self, lives=lives, batch=None, boundary_s=None, sent={})

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Memory:
        """Return a memory from its JSON values; an empty one from those of another schema: the
        facts provide the rest.
        """
        # No memory is better than a misread one: the facts contain nearly all of it.
        if kept.get("schema") != _SCHEMA:
            return cls()
        return cls(
            lives={
                executor: Life(_FORMER_PHASES.get(phase, phase), *life)
                for executor, (phase, *life) in kept["lives"].items()
            },
            batch=kept["batch"],
            boundary_s=kept["boundary_s"],
            wanted=_units(kept["wanted"]),
            takers=tuple(kept["takers"]),
            sent=_units(kept["sent"]),
            replacing=kept["replacing"],
        )


def awaits_boundary(memory: Memory) -> bool:
    """Return whether some executor's next transition waits for a batch boundary."""
    return any(life.phase not in _RESTING for life in memory.lives.values())


def has_rested(memory: Memory, now_s: float, waits: Waits = Waits()) -> bool:  # noqa: B008
    """Return whether an assignment that did not stay has rested long enough to be tried again."""
    stuck = (life for life in memory.lives.values() if life.phase == "stuck")
    return any(now_s - life.since_s >= waits.rest_s for life in stuck)


def standing_by(memory: Memory) -> set[str]:
    """Return the executors that stand by, warm and without state."""
    return {executor for executor, life in memory.lives.items() if life.phase == "standby"}


def undecided_size(memory: Memory, registered: Collection[str]) -> int:
    """Return the size as long as none is decided: all executors except those that an earlier
    controller has asked to leave.
    """
    # They leave whatever is decided now, so they are no part of the size.
    going = {executor for executor, life in memory.lives.items() if life.phase in GOING}
    return len(set(registered) - going)


def _rows(assignment: Mapping[Unit, str]) -> list[list[str | int]]:
    return [
        # Sorted, so that the same memory is the same line of the journal.
        [query, partition, executor]
        for (query, partition), executor in sorted(assignment.items())
    ]


def _units(rows: list[tuple[str, int, str]]) -> dict[Unit, str]:
    return {(query, partition): executor for query, partition, executor in rows}
