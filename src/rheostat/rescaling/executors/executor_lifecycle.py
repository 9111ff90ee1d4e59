"""The life of an executor: scale-out and scale-in as one table, from the request to the end of its
process.

The way in: requested, registered, warming, warm, assigned, settled; or standby, warm and without
state. The way out: victim, emptying, hidden, leaving, gone. The saga takes every step of an
executor from this table, and the diagrams in the docs are made from it.
"""

from __future__ import annotations

from rheostat.rescaling.transition_table import Table, Transition

TAKING = frozenset({"warm", "assigned", "settled", "rebalancing", "stuck"})
"""Phases in which an executor may be given state."""

ARRIVING = frozenset({"registered", "warming", "warm", "assigned"})
STAYING = TAKING | ARRIVING | {"standby"}
"""Phases of executors that count for the target and for the standby executors above it."""

DONE = frozenset({"settled", "stuck"})
"""Phases in which nothing more is going to be done for the executor."""

KEEPABLE = frozenset({"victim", "emptying"})
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
    "settled",
    "rebalancing",
    "stuck",
)
OUT = (
    "warm",
    "standby",
    "settled",
    "victim",
    "emptying",
    "hidden",
    "leaving",
    "urged",
    "killed",
    "gone",
)
"""The two protocols, as they are drawn."""

EVENTS = {
    "registered": "the cluster has started it",
    "lost": "it is no longer registered, and nobody had asked it to leave",
    "left": "it is no longer registered, as was asked",
    "chosen": (
        "there are more executors than the target, and of those at work it holds the least state"
        " (the youngest of equals); or there are more in standby than asked for; or it is to be"
        " replaced and another has settled in its stead"
    ),
    "kept": "a newer target is higher, and among those that leave it holds the most state",
    "cold": "executors can be warmed before they get state",
    "as it is": "executors cannot be warmed, or state is not placed",
    "warmed": "its warm-up has ended, or it holds state",
    "called": (
        "the target needs it: a newer one is higher, or another executor is lost or to be replaced"
    ),
    "needed": (
        "nobody else can take state, as when the controller sees the application for the first time"
    ),
    "spare": "the target is reached without it",
    "given": (
        "state partitions are sent to it in this step: after a batch boundary, those of a lost"
        " executor at once"
    ),
    "whole": (
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
        "after another batch boundary, no batch knows of it any more, and it still holds no state"
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
        Transition("registered", "chosen", "victim"),
        Transition("registered", "as it is", "warm"),
        Transition("registered", "needed", "warm"),
        Transition("registered", "cold", "warming", "WarmUp"),
        Transition("warming", "lost", "gone"),
        Transition("warming", "chosen", "victim"),
        Transition("warming", "warmed", "warm"),
        Transition("warming", "as it is", "warm"),
        Transition("warming", "needed", "warm"),
        Transition("warming", "late", "warm"),
        Transition("warm", "lost", "gone"),
        Transition("warm", "chosen", "victim"),
        Transition("warm", "spare", "standby"),
        Transition("warm", "given", "assigned", "Assign"),
        Transition("warm", "whole", "settled"),
        Transition("standby", "lost", "gone"),
        Transition("standby", "chosen", "victim"),
        # No "given" in standby: state comes only to executors that the target has called.
        Transition("standby", "called", "warm"),
        Transition("assigned", "lost", "gone"),
        Transition("assigned", "chosen", "victim"),
        Transition("assigned", "spent", "stuck"),
        Transition("assigned", "given", "assigned", "Assign"),
        Transition("assigned", "whole", "settled"),
        Transition("settled", "lost", "gone"),
        Transition("settled", "chosen", "victim"),
        # A settled executor keeps working meanwhile, so its new state is no growth.
        Transition("settled", "given", "rebalancing", "Assign"),
        Transition("rebalancing", "lost", "gone"),
        Transition("rebalancing", "chosen", "victim"),
        Transition("rebalancing", "spent", "stuck"),
        Transition("rebalancing", "given", "rebalancing", "Assign"),
        Transition("rebalancing", "whole", "settled"),
        Transition("stuck", "lost", "gone"),
        Transition("stuck", "chosen", "victim"),
        # Given again once it has rested: Spark may have stopped pulling the state elsewhere.
        Transition("stuck", "given", "rebalancing", "Assign"),
        Transition("stuck", "whole", "settled"),
        Transition("victim", "lost", "gone"),
        Transition("victim", "kept", "warm"),
        # Before "empty": whoever may still stand by is not hidden, which cannot be undone.
        Transition("victim", "retained", "standby"),
        Transition("victim", "empty", "hidden", "Hide"),
        Transition("victim", "late", "hidden", "Hide"),
        Transition("victim", "handed", "emptying"),
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
"""Every phase, event and order of an executor's life; checked when it is loaded."""
