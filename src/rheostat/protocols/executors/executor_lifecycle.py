"""The executor lifecycle, from the request to the end of the process: conditions and table.

Scale-out: requested, registered, warming, warm, assigned, ready; or standby, warm and without
state. Scale-in: candidate, emptying, hidden, leaving, gone. A step takes the rows in four passes;
an executor takes at most one row in each.
"""

from __future__ import annotations

from rheostat.protocols.executors.executor_choice import request_total
from rheostat.protocols.executors.executor_states import ExecutorStates
from rheostat.protocols.orders import Assign, Decommission, Hide, Kill, Order, WarmUp
from rheostat.protocols.transition_table import Row, Table


def registered(states: ExecutorStates, executor: str) -> bool:
    """The cluster has started it."""
    return executor in states.facts.registered


def lost(states: ExecutorStates, executor: str) -> bool:
    """It is no longer registered, although it was not asked to leave."""
    return executor not in states.facts.registered


def left(states: ExecutorStates, executor: str) -> bool:
    """It is no longer registered, as requested."""
    return executor not in states.facts.registered


def chosen(states: ExecutorStates, executor: str) -> bool:
    """There are more executors than the target, and of the working ones it holds the least state
    (of equals the one on the emptiest node, then the youngest); or more than the requested number
    stand by; or it is to be replaced and another executor is ready in its place.
    """
    return executor in states.leaving


def kept(states: ExecutorStates, executor: str) -> bool:
    """A newer target is higher, and of the leaving executors it holds the most state."""
    return executor in states.kept


def cold(states: ExecutorStates, _: str) -> bool:
    """Executors can be warmed before they receive state."""
    return states.facts.warmable and states.facts.placing


def not_warmable(states: ExecutorStates, executor: str) -> bool:
    """Executors cannot be warmed, or state is not placed."""
    return not cold(states, executor)


def warmed(states: ExecutorStates, executor: str) -> bool:
    """Its warm-up has ended, or it holds state."""
    # An executor with state has run tasks of the query: a warm-up adds nothing.
    return executor in states.facts.warm or states.held(executor) > 0


def called(states: ExecutorStates, executor: str) -> bool:
    """The target needs it: a newer one is higher, or another executor is lost or to be replaced."""
    return executor not in states.idle


def no_other(states: ExecutorStates, _: str) -> bool:
    """No other executor can receive state, for example after the start of the controller."""
    return states.none_takes


def failed(states: ExecutorStates, executor: str) -> bool:
    """After a batch boundary, its assigned state did not stay, several times in a row."""
    return states.boundary and states.lives[executor].tries >= states.waits.tries


def spare(states: ExecutorStates, executor: str) -> bool:
    """The target is reached without it."""
    return executor in states.idle


def assigned(states: ExecutorStates, executor: str) -> bool:
    """State partitions are sent to it in this step: after a batch boundary; those of a lost
    executor at once.
    """
    return executor in states.plan.sending.values()


def complete(states: ExecutorStates, executor: str) -> bool:
    """After a batch boundary, it holds all assigned state; or there is no state to place."""
    # Only at a boundary: during a batch a task may still report the state elsewhere.
    if not states.facts.placing or not states.facts.holders:
        return True
    return states.boundary and not states.plan.missing(executor, states.facts.holders)


def moving(states: ExecutorStates, executor: str) -> bool:
    """Some of its state partitions are sent to others in this step."""
    return any(states.facts.holders.get(unit) == executor for unit in states.plan.sending)


def empty(states: ExecutorStates, executor: str) -> bool:
    """After a batch boundary, it holds no state; or state is not placed."""
    # The running batch may still send a task to an executor that was chosen in this step.
    return not states.facts.placing or (
        states.boundary and not states.took(executor, chosen) and not states.held(executor)
    )


def retained(states: ExecutorStates, executor: str) -> bool:
    """After a batch boundary, it holds no state, and an executor is missing for the standby or for
    a replacement.
    """
    lacking = states.standby > 0 and len(states.staying) < request_total(states)
    return lacking and executor not in states.replacing and empty(states, executor)


def unused(states: ExecutorStates, executor: str) -> bool:
    """After another batch boundary, no batch uses it any more, and it still holds no state (or
    state is not placed).
    """
    # A batch that was planned before the executor was hidden may have placed a task there.
    return states.boundary and not (states.facts.placing and states.held(executor))


def late(states: ExecutorStates, executor: str) -> bool:
    """Its phase has exceeded its time limit, without fewer partitions on it."""
    return states.waited_s(executor) >= states.waits.of(states.phase(executor))


LIFE: Table[[ExecutorStates, str], type[Order]] = Table(
    start="requested",
    end="gone",
    rows=(
        Row("requested", registered, "registered"),
        # A surplus executor is never warmed: the choice precedes readiness.
        Row("registered", chosen, "candidate"),
        Row("registered", not_warmable, "warm"),
        Row("registered", no_other, "warm"),
        Row("registered", cold, "warming", WarmUp),
        Row("warming", lost, "gone"),
        Row("warming", chosen, "candidate"),
        Row("warming", warmed, "warm"),
        Row("warming", not_warmable, "warm"),
        Row("warming", no_other, "warm"),
        Row("warming", late, "warm"),
        Row("warm", lost, "gone"),
        Row("warm", chosen, "candidate"),
        Row("warm", spare, "standby"),
        Row("warm", assigned, "assigned", Assign),
        Row("warm", complete, "ready"),
        Row("standby", lost, "gone"),
        Row("standby", chosen, "candidate"),
        # No "assigned" in standby: only executors that the target needs receive state.
        Row("standby", called, "warm"),
        Row("assigned", lost, "gone"),
        Row("assigned", chosen, "candidate"),
        Row("assigned", failed, "stuck"),
        Row("assigned", assigned, "assigned", Assign),
        Row("assigned", complete, "ready"),
        Row("ready", lost, "gone"),
        Row("ready", chosen, "candidate"),
        # A ready executor continues to work, so its new state does not count as a scale-out.
        Row("ready", assigned, "rebalancing", Assign),
        Row("rebalancing", lost, "gone"),
        Row("rebalancing", chosen, "candidate"),
        Row("rebalancing", failed, "stuck"),
        Row("rebalancing", assigned, "rebalancing", Assign),
        Row("rebalancing", complete, "ready"),
        Row("stuck", lost, "gone"),
        Row("stuck", chosen, "candidate"),
        # Assigned again after a rest: Spark may have stopped moving the state away.
        Row("stuck", assigned, "rebalancing", Assign),
        Row("stuck", complete, "ready"),
        Row("candidate", lost, "gone"),
        Row("candidate", kept, "warm"),
        # Before "empty": an executor that may still stand by is not hidden, which is irreversible.
        Row("candidate", retained, "standby"),
        Row("candidate", empty, "hidden", Hide),
        Row("candidate", late, "hidden", Hide),
        Row("candidate", moving, "emptying"),
        Row("emptying", lost, "gone"),
        Row("emptying", kept, "warm"),
        Row("emptying", retained, "standby"),
        Row("emptying", empty, "hidden", Hide),
        Row("emptying", late, "hidden", Hide),
        # No "kept" from here on: a hidden block manager cannot be shown again.
        Row("hidden", lost, "gone"),
        Row("hidden", unused, "leaving", Decommission),
        Row("hidden", late, "leaving", Decommission),
        Row("leaving", left, "gone"),
        # Requested once more before the kill, which costs the tasks that the executor still runs.
        Row("leaving", late, "urged", Decommission),
        Row("urged", left, "gone"),
        Row("urged", late, "killed", Kill),
        Row("killed", left, "gone"),
        # Repeated: the executor is in the facts until the cluster manager reports its end.
        Row("killed", late, "killed", Kill),
    ),
)
"""Every phase, event and order of the executor lifecycle; checked on import."""

ARRIVALS = LIFE.with_events(registered, lost, left)
CHOICES = LIFE.with_events(chosen, kept)
READINESS = LIFE.with_events(cold, not_warmable, warmed, called, no_other, failed)
PLACEMENT = LIFE.with_events(spare, assigned, complete, moving, retained, empty, unused, late)
"""The four passes of a step, in their order; each uses what the previous one has changed."""
