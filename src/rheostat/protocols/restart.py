"""The protocol of a restart: drain, stop, repartition the state if required, start at the new size.

Source: Varga, Balassi, Kiss 2021, section 3.2 (snapshot, stop, start at the new size). The snapshot
of Spark is the checkpoint of the last committed batch, so draining means completing a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from rheostat.protocols.transition_table import Row, Table

MAX_FINISHES = 2
"""Attempts to commit a planned batch; after them the state keeps its partitions."""


class RestartOrder(Enum):
    """The orders for a backend; each may be repeated after a crash."""

    START = "start the job with the requested executors"
    DRAIN = "request that the job stops its queries after their batches"
    STOP = "end the job: SIGTERM, and SIGKILL after a grace period"
    FINISH = "start the job for one batch of each query, which commits a planned batch"
    REPARTITION = "repartition the state of every checkpoint that differs, and verify each row"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartFacts:
    """What a backend observes.

    ``process``: this backend has started none, it runs, or it has ended. ``works``: it has
    completed a batch. ``due``: a request may be carried out now. ``acknowledged``: the job is
    draining. ``differs``: a checkpoint has another number of state partitions than requested;
    ``uncommitted``: one of these has a planned batch that is not committed, after ``finishes``
    attempts. ``refused``: the repartition was refused. ``phase_s`` is the time in the phase,
    ``limit_s`` its limit.
    """

    process: Literal["none", "alive", "ended"] = "none"
    works: bool = False
    due: bool = False
    acknowledged: bool = True
    drained: bool = False
    differs: bool = False
    uncommitted: bool = False
    refused: bool = False
    finishes: int = 0
    phase_s: float = 0.0
    limit_s: float = float("inf")


def absent(facts: RestartFacts) -> bool:
    """The supervisor has started no process: an earlier one has ended, and its job with it."""
    return facts.process == "none"


def ended(facts: RestartFacts) -> bool:
    """The process has ended."""
    return facts.process == "ended"


def works(facts: RestartFacts) -> bool:
    """The process has completed its first batch."""
    return facts.works


def due(facts: RestartFacts) -> bool:
    """A restart is requested and permitted now: a person's at once, the loop's after the pause."""
    return facts.due


def drained(facts: RestartFacts) -> bool:
    """All queries have stopped after a batch."""
    return facts.drained


def unacknowledged(facts: RestartFacts) -> bool:
    """The job does not report yet that it is draining."""
    return not facts.acknowledged


def late(facts: RestartFacts) -> bool:
    """The phase has exceeded its time limit."""
    return facts.phase_s > facts.limit_s


def hopeless(facts: RestartFacts) -> bool:
    """The planned batch is still not committed after the last attempt."""
    return facts.uncommitted and not facts.refused and facts.finishes >= MAX_FINISHES


def undrained(facts: RestartFacts) -> bool:
    """Other state partitions are requested, and a planned batch is not committed."""
    return differs(facts) and facts.uncommitted


def differs(facts: RestartFacts) -> bool:
    """A checkpoint has another number of state partitions than requested."""
    return facts.differs and not facts.refused


def agrees(facts: RestartFacts) -> bool:
    """Every checkpoint has the requested number of state partitions."""
    return not facts.differs


def refused(facts: RestartFacts) -> bool:
    """The state could not be repartitioned; the checkpoint is unchanged."""
    return facts.refused


def ready(facts: RestartFacts) -> bool:
    """The state needs no further step before the start."""
    return not differs(facts)


RESTART: Table[[RestartFacts], RestartOrder] = Table(
    start="stopped",
    end="ended",
    rows=(
        Row("stopped", hopeless, "starting", RestartOrder.START),
        Row("stopped", undrained, "finishing", RestartOrder.FINISH),
        Row("stopped", differs, "repartitioning", RestartOrder.REPARTITION),
        Row("stopped", ready, "starting", RestartOrder.START),
        Row("finishing", absent, "stopped"),
        Row("finishing", ended, "stopped"),
        Row("finishing", drained, "stopping"),
        Row("finishing", late, "stopping"),
        Row("repartitioning", agrees, "stopped"),
        Row("repartitioning", refused, "stopped"),
        Row("repartitioning", differs, "repartitioning", RestartOrder.REPARTITION),
        Row("starting", absent, "stopped"),
        Row("starting", ended, "ended"),
        Row("starting", works, "running"),
        Row("running", absent, "stopped"),
        Row("running", ended, "ended"),
        Row("running", due, "draining", RestartOrder.DRAIN),
        Row("draining", absent, "stopped"),
        Row("draining", ended, "stopped"),
        Row("draining", drained, "stopping"),
        Row("draining", late, "stopping"),
        Row("draining", unacknowledged, "draining", RestartOrder.DRAIN),
        Row("stopping", absent, "stopped"),
        Row("stopping", ended, "stopped"),
        Row("stopping", late, "stopping", RestartOrder.STOP),
    ),
)
"""Every phase, event and order of a restart; checked on import."""
