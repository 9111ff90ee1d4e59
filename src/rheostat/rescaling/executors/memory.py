"""What the protocol remembers between two steps: plain values, so that a restart of the controller
continues where it stood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rheostat.state.units import Unit

_SCHEMA = 1


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
        """Return what a new controller goes on from: every phase begins anew, and so do the batches
        and what is to be verified.

        Who was hidden and not asked to leave may still stay: a new controller has decided nothing.
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
        facts tell the rest.
        """
        # Rather no memory than one that is misread: the facts tell nearly all of it.
        if kept.get("schema") != _SCHEMA:
            return cls()
        return cls(
            lives={executor: Life(*life) for executor, life in kept["lives"].items()},
            batch=kept["batch"],
            boundary_s=kept["boundary_s"],
            wanted=_units(kept["wanted"]),
            takers=tuple(kept["takers"]),
            sent=_units(kept["sent"]),
            replacing=kept["replacing"],
        )


def _rows(assignment: Mapping[Unit, str]) -> list[list[str | int]]:
    return [
        # Sorted, so that the same memory is the same line of the journal.
        [query, partition, executor]
        for (query, partition), executor in sorted(assignment.items())
    ]


def _units(rows: list[tuple[str, int, str]]) -> dict[Unit, str]:
    return {(query, partition): executor for query, partition, executor in rows}
