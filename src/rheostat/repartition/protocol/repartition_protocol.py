"""The protocol of a repartition as one table: forward to the new number of partitions, back to the
old one, from any phase.

The new state is written and verified where no query looks (``staging.py``). Then an entry of the
offset log closes the checkpoint, the files are put in their places, and an entry of the commit log
opens it again. The course takes every step from this table, and the guide's diagrams are made from
it.
"""

from __future__ import annotations

from rheostat.protocols.transition_table import Table, Transition

OPEN_OLD = frozenset({"begun", "written", "verified", "unlocked"})
"""Phases in which the query may start, with the old number."""

CLOSED = frozenset({"locked", "placed", "withdrawing"})
"""Phases in which Spark refuses to start the query because a repartition is unfinished."""

OPEN_NEW = frozenset({"committed", "done"})
"""Phases in which the query may start, with the new number."""

FORWARD = (
    "asked",
    "leased",
    "begun",
    "written",
    "verified",
    "locked",
    "placed",
    "committed",
    "done",
)
BACK = (
    "begun",
    "written",
    "verified",
    "locked",
    "placed",
    "committed",
    "done",
    "withdrawing",
    "unlocked",
    "ended",
)
"""The two directions, as they are drawn."""

EVENTS = {
    "unfit": "the checkpoint, the number or the disk do not allow it; nothing was written",
    "fit": "nothing speaks against it",
    "undrained": "under the lease, a batch is planned that is not committed",
    "drained": "under the lease, every planned batch is committed",
    "back": (
        "the old number is wanted again, by the user or because the work failed, and the query has"
        " not gone on with the new one"
    ),
    "overtaken": "a batch of the query has taken the number of the repartition's batch",
    "different": (
        "a store does not hold the rows that it held before, or a key is not where its hash says"
    ),
    "equal": "every store holds the rows that it held before, every key where its hash says",
    "free": "the offset log has no batch of the repartition's number",
    "locked": "the offset log has the repartition's batch, or its guard",
    "unplaced": "a file of the new state is not in its place",
    "all placed": "every file of the new state is in its place",
    "kept": "the commit log has the repartition's batch",
    "gone on": "the query has planned a batch after the repartition's",
    "left": "a file of the new state is still in its place",
    "cleared": "no file of the new state is in its place, and neither log has the batch",
}
"""What every event means."""

ORDERS = {
    "Lease": "take the lease beside the checkpoint",
    "Release": "give the lease back",
    "Begin": "begin the journal beside the checkpoint",
    "Write": "write the new state where no query looks, count it, list its files",
    "Lock": "write the batch into the offset log, if it has none of its number",
    "Place": "put the files in their places, one after the other",
    "Commit": "write the batch into the commit log",
    "Reopen": (
        "write a guard into the offset log, one number on, so that no query plans a batch there;"
        " then take the batch out of the commit log"
    ),
    "Withdraw": "take the files out of their places, one after the other",
    "Unlock": "take the guard and the batch out of the offset log",
    "Tidy": "delete what was written where no query looks",
}
"""What every order does; each may be given again after a crash."""

REPARTITION = Table(
    start="asked",
    end="ended",
    transitions=(
        Transition("asked", "unfit", "ended"),
        Transition("asked", "fit", "leased", "Lease"),
        Transition("leased", "undrained", "ended", "Release"),
        Transition("leased", "drained", "begun", "Begin"),
        Transition("begun", "back", "withdrawing"),
        Transition("begun", "overtaken", "withdrawing"),
        Transition("begun", "free", "written", "Write"),
        Transition("written", "back", "withdrawing"),
        Transition("written", "overtaken", "withdrawing"),
        Transition("written", "different", "withdrawing"),
        Transition("written", "equal", "verified"),
        Transition("verified", "back", "withdrawing"),
        Transition("verified", "overtaken", "withdrawing"),
        Transition("verified", "locked", "locked"),
        Transition("verified", "free", "verified", "Lock"),
        Transition("locked", "back", "withdrawing"),
        Transition("locked", "overtaken", "withdrawing"),
        Transition("locked", "free", "verified"),
        Transition("locked", "unplaced", "locked", "Place"),
        Transition("locked", "all placed", "placed"),
        Transition("placed", "back", "withdrawing"),
        Transition("placed", "overtaken", "withdrawing"),
        Transition("placed", "kept", "committed"),
        Transition("placed", "free", "verified"),
        Transition("placed", "all placed", "placed", "Commit"),
        Transition("committed", "back", "withdrawing"),
        Transition("committed", "kept", "done", "Tidy"),
        Transition("committed", "gone on", "done", "Tidy"),
        Transition("done", "back", "withdrawing"),
        Transition("withdrawing", "gone on", "done", "Tidy"),
        Transition("withdrawing", "kept", "withdrawing", "Reopen"),
        Transition("withdrawing", "left", "withdrawing", "Withdraw"),
        Transition("withdrawing", "locked", "withdrawing", "Unlock"),
        Transition("withdrawing", "cleared", "unlocked"),
        Transition("unlocked", "cleared", "ended", "Tidy"),
    ),
)
"""Every phase, event and order of a repartition; checked when it is loaded. Where none of a phase's
events holds, the repartition rests: in ``done``, or where somebody has changed a log by hand.
"""
