"""What decides the next step of a restart: facts as values, and one condition per event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

NONE, ALIVE, LEFT = "none", "alive", "left"
"""The process: this supervisor has started none, it runs, it has ended."""

FINISHES = 2
"""So many attempts to commit a planned batch; then the state stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a supervisor sees.

    ``due``: a request may be carried out now. ``unlike``: a checkpoint has another number of state
    partitions than is wanted; ``uncommitted``: one of these has a batch that is planned and not
    committed, and ``finishes`` counts the attempts to commit it. ``refused``: the repartition was
    refused. ``phase_s`` is how long the phase lasts, ``limit_s`` how long it may.
    """

    process: str = NONE
    works: bool = False
    drained: bool = False
    due: bool = False
    unlike: bool = False
    uncommitted: bool = False
    refused: bool = False
    finishes: int = 0
    phase_s: float = 0.0
    limit_s: float = float("inf")


CONDITIONS: Mapping[str, Callable[[Facts], bool]] = {
    "none": lambda facts: facts.process == NONE,
    "left": lambda facts: facts.process == LEFT,
    "works": lambda facts: facts.works,
    "due": lambda facts: facts.due,
    "drained": lambda facts: facts.drained,
    "late": lambda facts: facts.phase_s > facts.limit_s,
    "undrained": lambda facts: facts.unlike and facts.uncommitted and not facts.refused,
    "unlike": lambda facts: facts.unlike and not facts.refused,
    "like": lambda facts: not facts.unlike,
    "refused": lambda facts: facts.refused,
    "hopeless": lambda facts: (
        facts.uncommitted and not facts.refused and facts.finishes >= FINISHES
    ),
    "ready": lambda facts: not facts.unlike or facts.refused,
}
"""When each event of the table holds."""


def events(facts: Facts) -> set[str]:
    """Return the events that hold."""
    return {event for event, holds in CONDITIONS.items() if holds(facts)}
