"""The executor lifecycle: scale-out and scale-in as one table, from the request to the end of the
process.

Scale-out: requested, registered, warming, warm, assigned, ready; or standby, warm and without
state. Scale-in: candidate, emptying, hidden, leaving, gone. ``advance`` takes every transition of
an executor from this table, and the diagrams in the docs are generated from it.
"""

from __future__ import annotations

from rheostat.protocols.transition_table import Table, Transition

TAKING = frozenset({"warm", "assigned", "ready", "rebalancing", "stuck"})
"""Phases in which an executor may be given state."""

ARRIVING = frozenset({"registered", "warming", "warm", "assigned"})
STAYING = TAKING | ARRIVING | {"standby"}
"""Phases of executors that count for the target and for the standby executors above it."""

DONE = frozenset({"ready", "stuck"})
"""Phases in which nothing more is going to be done for the executor."""

KEEPABLE = frozenset({"candidate", "emptying"})
"""Phases of leaving executors that a higher target takes back; one that was hidden from the sources
cannot be shown again."""

GOING = frozenset({"hidden", "leaving", "urged", "killed"})
"""Phases from which there is no way back."""

IN = (
    "requested",
    "registered",
    "warming",
    "warm",
    "standby",
    "assigned",
    "ready",
    "rebalancing",
    "stuck",
)
OUT = (
    "warm",
    "standby",
    "ready",
    "candidate",
    "emptying",
    "hidden",
    "leaving",
    "urged",
    "killed",
    "gone",
)
"""The two directions, as they are drawn."""

EVENTS = {
    "registered": "the cluster has started it",
    "lost": "it is no longer registered, although it was not asked to leave",
    "left": "it is no longer registered, as was asked",
    "chosen": (
        "there are more executors than the target, and of those at work it holds the least state"
        " (the youngest of equals); or there are more in standby than asked for; or it is to be"
        " replaced and another is ready in its place"
    ),
    "kept": "a newer target is higher, and among those that leave it holds the most state",
    "cold": "executors can be warmed before they get state",
    "as it is": "executors cannot be warmed, or state is not placed",
    "warmed": "its warm-up has ended, or it holds state",
    "called": (
        "the target needs it: a newer one is higher, or another executor is lost or to be replaced"
    ),
    "needed": (
        "no other executor can take state, as when the controller first observes the application"
    ),
    "spare": "the target is reached without it",
    "assigned": (
        "state partitions are sent to it in this step: after a batch boundary, those of a lost"
        " executor at once"
    ),
    "complete": (
        "after a batch boundary, it holds all that it should; or there is no state to be placed"
    ),
    "spent": (
        "after a batch boundary, what it was sent did not stay, for the last of several times in"
        " a row"
    ),
    "handed": "state partitions of it are sent to others in this step",
    "retained": (
        "after a batch boundary, it holds no state, and an executor to stand by or to replace"
        " another is lacking"
    ),
    "empty": "after a batch boundary, it holds no state; or state is not placed",
    "unseen": (
        "after another batch boundary, no batch uses it any more, and it still holds no state"
        " (or state is not placed)"
    ),
    "late": "its phase has lasted too long, without a partition fewer on it",
}
"""What every event means."""

LIFE = Table(
    start="requested",
    end="gone",
    transitions=(
        Transition("requested", "registered", "registered"),
        Transition("registered", "lost", "gone"),
        # An executor that is not wanted is never warmed: the choice is the look before readiness.
        Transition("registered", "chosen", "candidate"),
        Transition("registered", "as it is", "warm"),
        Transition("registered", "needed", "warm"),
        Transition("registered", "cold", "warming", "WarmUp"),
        Transition("warming", "lost", "gone"),
        Transition("warming", "chosen", "candidate"),
        Transition("warming", "warmed", "warm"),
        Transition("warming", "as it is", "warm"),
        Transition("warming", "needed", "warm"),
        Transition("warming", "late", "warm"),
        Transition("warm", "lost", "gone"),
        Transition("warm", "chosen", "candidate"),
        Transition("warm", "spare", "standby"),
        Transition("warm", "assigned", "assigned", "Assign"),
        Transition("warm", "complete", "ready"),
        Transition("standby", "lost", "gone"),
        Transition("standby", "chosen", "candidate"),
        # No "assigned" in standby: state comes only to executors that the target has called.
        Transition("standby", "called", "warm"),
        Transition("assigned", "lost", "gone"),
        Transition("assigned", "chosen", "candidate"),
        Transition("assigned", "spent", "stuck"),
        Transition("assigned", "assigned", "assigned", "Assign"),
        Transition("assigned", "complete", "ready"),
        Transition("ready", "lost", "gone"),
        Transition("ready", "chosen", "candidate"),
        # A ready executor keeps working meanwhile, so its new state does not count as a scale-out.
        Transition("ready", "assigned", "rebalancing", "Assign"),
        Transition("rebalancing", "lost", "gone"),
        Transition("rebalancing", "chosen", "candidate"),
        Transition("rebalancing", "spent", "stuck"),
        Transition("rebalancing", "assigned", "rebalancing", "Assign"),
        Transition("rebalancing", "complete", "ready"),
        Transition("stuck", "lost", "gone"),
        Transition("stuck", "chosen", "candidate"),
        # Assigned again once it has rested: Spark may have stopped pulling the state elsewhere.
        Transition("stuck", "assigned", "rebalancing", "Assign"),
        Transition("stuck", "complete", "ready"),
        Transition("candidate", "lost", "gone"),
        Transition("candidate", "kept", "warm"),
        # Before "empty": whoever may still stand by is not hidden, which cannot be undone.
        Transition("candidate", "retained", "standby"),
        Transition("candidate", "empty", "hidden", "Hide"),
        Transition("candidate", "late", "hidden", "Hide"),
        Transition("candidate", "handed", "emptying"),
        Transition("emptying", "lost", "gone"),
        Transition("emptying", "kept", "warm"),
        Transition("emptying", "retained", "standby"),
        Transition("emptying", "empty", "hidden", "Hide"),
        Transition("emptying", "late", "hidden", "Hide"),
        # No "kept" from here on: a block manager that was hidden cannot be shown again.
        Transition("hidden", "lost", "gone"),
        Transition("hidden", "unseen", "leaving", "Decommission"),
        Transition("hidden", "late", "leaving", "Decommission"),
        Transition("leaving", "left", "gone"),
        # Asked once more before it is killed: a kill costs the tasks that it still runs.
        Transition("leaving", "late", "urged", "Decommission"),
        Transition("urged", "left", "gone"),
        Transition("urged", "late", "killed", "Kill"),
        Transition("killed", "left", "gone"),
        # Again and again: the executor is in the facts until the cluster manager says it is gone.
        Transition("killed", "late", "killed", "Kill"),
    ),
)
"""Every phase, event and order of the executor lifecycle; checked when it is loaded."""
