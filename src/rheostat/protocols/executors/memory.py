"""The memory of the rescale protocol between two steps, and its time limits: plain values, so that
a restarted controller continues where the last one stopped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rheostat.errors import BadInput
from rheostat.state.assignment import Unit

TAKING = frozenset({"warm", "assigned", "ready", "rebalancing", "stuck"})
"""Phases in which an executor may receive state."""

ARRIVING = frozenset({"registered", "warming", "warm", "assigned"})
STAYING = TAKING | ARRIVING | {"standby"}
"""Phases of executors that count for the target and for the standby executors above it."""

DONE = frozenset({"ready", "stuck"})
"""Phases in which no more work is done for the executor."""

KEEPABLE = frozenset({"candidate", "emptying"})
"""Phases of leaving executors that a higher target keeps; a hidden one cannot be shown again."""

GOING = frozenset({"hidden", "leaving", "urged", "killed"})
"""Irreversible phases."""

_SCHEMA = 1

_FORMER_PHASES = {"settled": "ready", "victim": "candidate"}
"""The former names of phases in journals of earlier versions."""

_RESTING = DONE | {"standby", "leaving", "killed"}
"""Phases that do not end at a batch boundary."""


def _wait(default: float, then: str) -> Any:
    return field(default=default, metadata={"then": then})


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Time limits of the protocol in seconds (``tries`` is a count), each with its consequence.

    Raises BadInput for a time of 0 or less and for less than 1 try.
    """

    warm_s: float = _wait(30.0, "an executor whose warm-up has not ended receives state cold")
    empty_s: float = _wait(
        300.0, "a draining candidate that stops losing partitions leaves with what it holds"
    )
    hidden_s: float = _wait(
        60.0,
        "a hidden executor is removed although no batch boundary was reached or state returned",
    )
    leave_s: float = _wait(
        90.0,
        "a request to leave is repeated; after the same time the executor is killed, and killed"
        " again",
    )
    tries: int = _wait(4, "an assignment that failed this many times in a row rests")
    rest_s: float = _wait(60.0, "a resting assignment is tried once")
    replace_s: float = _wait(
        300.0,
        "a replacement without a successor is abandoned; it may be requested again after the same"
        " time",
    )
    idle_s: float = _wait(1.0, "where no batch was observed, this time counts as a batch boundary")

    def __post_init__(self) -> None:
        for option in fields(self):
            if option.name != "tries" and not getattr(self, option.name) > 0:
                raise BadInput(
                    f"{option.name} must be above 0 seconds, but it is {getattr(self, option.name)}"
                )
        if self.tries < 1:
            raise BadInput(f"tries must be at least 1, but it is {self.tries}")

    def of(self, phase: str) -> float:
        """Return the seconds after which a phase is late."""
        limits = {
            "warming": self.warm_s,
            "candidate": self.empty_s,
            "emptying": self.empty_s,
            "hidden": self.hidden_s,
        }
        # The remaining phases, leaving, urged and killed, all wait for the end of a process.
        return limits.get(phase, self.leave_s)


@dataclass(frozen=True, slots=True)
class Life:
    """The phase of an executor: its start, failed tries in a row, the units held when the executor
    was chosen to leave, and the minimum since then.
    """

    phase: str
    since_s: float
    tries: int = 0
    units: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The lives of the registered executors, the desired locations of the state, and the last batch
    boundary; empty at the start.
    """

    lives: Mapping[str, Life] = field(default_factory=dict)
    batch: int | None = None
    boundary_s: float | None = None
    wanted: Mapping[Unit, str] = field(default_factory=dict)
    takers: tuple[str, ...] = ()
    """The executors among which ``wanted`` is balanced."""

    sent: Mapping[Unit, str] = field(default_factory=dict)
    """The units assigned since the last boundary, to be verified after the next."""

    replacing: Mapping[str, float] = field(default_factory=dict)
    """The executors to be replaced, and the time of each request."""

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
        """Return the memory with which a new controller continues: the clocks of all phases, the
        batches and the verification restart.

        A hidden executor that was not asked to leave may stay: a new controller has decided nothing
        yet.
        """
        lives = {
            executor: replace(
                life,
                since_s=now_s,
                # Back to the last reversible phase; the order to hide is repeated if necessary.
                phase="emptying" if life.phase == "hidden" else life.phase,
            )
            for executor, life in self.lives.items()
        }
        return replace(self, lives=lives, batch=None, boundary_s=None, sent={})

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Memory:
        """Return a memory from its JSON values; an empty one if they have another schema."""
        # An empty memory is better than a misread one: the facts contain nearly all of it.
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


def has_rested(memory: Memory, now_s: float, waits: Waits = Waits()) -> bool:
    """Return whether an assignment that did not stay has rested long enough for another try."""
    stuck = (life for life in memory.lives.values() if life.phase == "stuck")
    return any(now_s - life.since_s >= waits.rest_s for life in stuck)


def standing_by(memory: Memory) -> set[str]:
    """Return the executors that stand by, warm and without state."""
    return {executor for executor, life in memory.lives.items() if life.phase == "standby"}


def undecided_size(memory: Memory, registered: Collection[str]) -> int:
    """Return the size before the first decision: all executors except those that an earlier
    controller has asked to leave.
    """
    # They leave whatever is decided now, so they are not part of the size.
    going = {executor for executor, life in memory.lives.items() if life.phase in GOING}
    return len(set(registered) - going)


def _rows(assignment: Mapping[Unit, str]) -> list[list[str | int]]:
    return [
        # Sorted, so that equal memories yield equal lines in the journal.
        [query, partition, executor]
        for (query, partition), executor in sorted(assignment.items())
    ]


def _units(rows: list[tuple[str, int, str]]) -> dict[Unit, str]:
    return {(query, partition): executor for query, partition, executor in rows}
