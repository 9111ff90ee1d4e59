"""The protocol of a repartition: forward to the new number of state partitions and, from any phase,
back to the old one.

The new state is written and verified where no query reads it. Then an entry of the offset log
closes the checkpoint, the files are put in place, and an entry of the commit log reopens it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rheostat.protocols.transition_table import Row, Table

OPEN_OLD = frozenset({"begun", "written", "verified", "unlocked"})
"""Phases in which the query may start, with the old number."""

CLOSED = frozenset({"locked", "placed", "withdrawing"})
"""Phases in which Spark refuses to start the query because of an unfinished repartition."""

OPEN_NEW = frozenset({"committed", "done"})
"""Phases in which the query may start, with the new number."""

ABSENT, OURS, OTHERS = "absent", "ours", "others"
"""The author of a log entry: none, this repartition, or another writer."""


class RepartitionOrder(Enum):
    """The orders for the runner; each may be repeated after a crash."""

    WRITE = "write the new state where no query reads it, count its rows, list its files"
    LOCK = "write the batch into the offset log, if that has no batch of this number"
    PLACE = "put the files in place, one after the other"
    COMMIT = "write the batch into the commit log"
    REOPEN = (
        "write a guard into the offset log, one number on, so that no query plans a batch there;"
        " then remove the batch from the commit log"
    )
    WITHDRAW = "remove the files from their places, one after the other"
    UNLOCK = "remove the guard and the batch from the offset log"
    TIDY = "delete what was written where no query reads it"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepartitionFacts:
    """The contents of a checkpoint's logs and folders, and whether the direction is ``back``.

    ``lock`` and ``guard`` are the authors of the offset log's entries at the repartition's batch
    and at the one after it, ``commit`` is the author of the commit log's entry. ``unplaced`` and
    ``in_place`` count files of the new state.
    """

    back: bool = False
    equal: bool = False
    lock: str = ABSENT
    guard: str = ABSENT
    commit: str = ABSENT
    unplaced: int = 0
    in_place: int = 0

    @property
    def gone_on(self) -> bool:
        """Whether the query has planned a batch with the new number."""
        return self.guard == OTHERS and self.lock != OTHERS


def back(facts: RepartitionFacts) -> bool:
    """The old number is requested, by the user or because the work failed, and the query has not
    continued with the new one.
    """
    return facts.back and not facts.gone_on


def overtaken(facts: RepartitionFacts) -> bool:
    """A batch of the query has taken the number of the repartition's batch."""
    return OTHERS in (facts.lock, facts.commit) and not facts.gone_on


def different(facts: RepartitionFacts) -> bool:
    """A store does not contain its previous rows, or a key is not in the partition of its hash."""
    return not facts.equal


def equal(facts: RepartitionFacts) -> bool:
    """Every store contains its previous rows, every key in the partition of its hash."""
    return facts.equal


def free(facts: RepartitionFacts) -> bool:
    """The offset log has no batch of the repartition's number."""
    return facts.lock == ABSENT and not facts.gone_on


def locked(facts: RepartitionFacts) -> bool:
    """The offset log has the repartition's batch, or its guard."""
    return OURS in (facts.lock, facts.guard)


def unplaced(facts: RepartitionFacts) -> bool:
    """A file of the new state is not in place."""
    return facts.unplaced > 0


def all_placed(facts: RepartitionFacts) -> bool:
    """Every file of the new state is in place."""
    return not facts.unplaced


def committed(facts: RepartitionFacts) -> bool:
    """The commit log has the repartition's batch."""
    return facts.commit == OURS


def gone_on(facts: RepartitionFacts) -> bool:
    """The query has planned a batch after the repartition's."""
    return facts.gone_on


def in_place(facts: RepartitionFacts) -> bool:
    """A file of the new state is still in place."""
    return facts.in_place > 0


def cleared(facts: RepartitionFacts) -> bool:
    """No file of the new state is in place, and the offset log has neither the batch nor its
    guard.
    """
    return not facts.in_place and not locked(facts)


REPARTITION: Table[[RepartitionFacts], RepartitionOrder] = Table(
    start="begun",
    end="ended",
    rows=(
        Row("begun", back, "withdrawing"),
        Row("begun", overtaken, "withdrawing"),
        Row("begun", free, "written", RepartitionOrder.WRITE),
        Row("written", back, "withdrawing"),
        Row("written", overtaken, "withdrawing"),
        Row("written", different, "withdrawing"),
        Row("written", equal, "verified"),
        Row("verified", back, "withdrawing"),
        Row("verified", overtaken, "withdrawing"),
        Row("verified", locked, "locked"),
        Row("verified", free, "verified", RepartitionOrder.LOCK),
        Row("locked", back, "withdrawing"),
        Row("locked", overtaken, "withdrawing"),
        Row("locked", free, "verified"),
        Row("locked", unplaced, "locked", RepartitionOrder.PLACE),
        Row("locked", all_placed, "placed"),
        Row("placed", back, "withdrawing"),
        Row("placed", overtaken, "withdrawing"),
        Row("placed", committed, "committed"),
        Row("placed", free, "verified"),
        Row("placed", all_placed, "placed", RepartitionOrder.COMMIT),
        Row("committed", back, "withdrawing"),
        Row("committed", committed, "done", RepartitionOrder.TIDY),
        Row("committed", gone_on, "done", RepartitionOrder.TIDY),
        Row("done", back, "withdrawing"),
        Row("withdrawing", gone_on, "done", RepartitionOrder.TIDY),
        Row("withdrawing", committed, "withdrawing", RepartitionOrder.REOPEN),
        Row("withdrawing", in_place, "withdrawing", RepartitionOrder.WITHDRAW),
        Row("withdrawing", locked, "withdrawing", RepartitionOrder.UNLOCK),
        Row("withdrawing", cleared, "unlocked"),
        Row("unlocked", cleared, "ended", RepartitionOrder.TIDY),
    ),
)
"""Every phase, event and order of a repartition; checked on import. If no event of a phase holds,
the repartition rests: in ``done``, or after a log was changed by hand.
"""
