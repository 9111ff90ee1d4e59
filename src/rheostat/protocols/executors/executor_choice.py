"""The choices that a target requires: which executors work, stand by, leave or are kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from rheostat.protocols.executors.executor_states import ExecutorStates
from rheostat.protocols.executors.memory import DONE, KEEPABLE, TAKING

_READY_FIRST = ("warm", "standby", "warming", "registered")
"""Phases of executors that do no state work yet, sorted by how soon they could start."""


def with_choice(states: ExecutorStates) -> ExecutorStates:
    """Return the states with the executors that leave and those that are kept."""
    return replace(states, leaving=_leaving(states), kept=_kept(states))


def with_need(states: ExecutorStates) -> ExecutorStates:
    """Return the states with the executors that the target does not need."""
    states = replace(states, idle=spare(states))
    none_takes = not taking(states) and not states.those_in({"standby"})
    return replace(states, none_takes=none_takes)


def taking(states: ExecutorStates) -> list[str]:
    """Return the executors that may receive state; idle ones may not."""
    return [executor for executor in states.those_in(TAKING) if executor not in states.idle]


def spare(states: ExecutorStates) -> tuple[str, ...]:
    """Return the executors that the target does not need, those that could work soonest first.

    An executor that holds state works, except if the state moved by itself to one in standby.
    """
    others = [executor for executor in states.staying if executor not in states.replaced]
    free = [
        executor
        for phase in _READY_FIRST
        for executor in others
        if states.phase(executor) == phase and (phase == "standby" or not states.held(executor))
    ]
    # Working executors fill the target first, because their state need not move.
    return tuple(free[max(0, states.target - (len(others) - len(free))) :])


def _leaving(states: ExecutorStates) -> tuple[str, ...]:
    """Return the executors that are to leave now.

    The surplus above the target leaves: first executors to be replaced, then those with the least
    state, of equals those on the emptiest node, then the youngest. Executors in standby are no
    surplus up to their requested number: after a scale-in they are as ready as before. An executor
    to be replaced leaves only when another one is ready.
    """
    replaced, idle = _least_state_first(states, states.replaced), spare(states)
    others = [executor for executor in states.staying if executor not in replaced]
    working = [executor for executor in others if executor not in idle]
    surplus = (
        # The first idle ones stand by, so those that would start to work last leave.
        *idle[states.standby :],
        *_least_state_first(states, working)[: max(0, len(working) - states.target)],
    )
    # The target is exceeded, so the replaced executors have successors and may all leave.
    if surplus or not replaced:
        return (*replaced, *surplus)
    # As many leave as others are ready: state never lies on fewer executors than the target.
    ready = sum(states.phase(executor) in DONE for executor in others)
    return tuple(replaced[: max(0, ready + len(replaced) - states.target)])


def _kept(states: ExecutorStates) -> tuple[str, ...]:
    """Return the leaving executors that a higher target keeps: those with the most state first,
    those to be replaced last.

    They precede executors in standby because their state need not move.
    """
    lacking = max(
        0, states.target - sum(states.phase(executor) != "standby" for executor in states.staying)
    )
    leaving = _least_state_first(states, states.those_in(KEEPABLE))[::-1]
    # A stable sort: among those not to be replaced the most state stays first.
    return tuple(sorted(leaving, key=lambda executor: executor in states.replacing)[:lacking])


def request_total(states: ExecutorStates) -> int:
    """Return how many executors the cluster should run: the target, one successor for each executor
    to be replaced, and the standby.
    """
    # The successor is requested before its predecessor leaves, so the total is temporarily higher.
    return states.target + len(states.replaced) + states.standby


def _least_state_first(states: ExecutorStates, executors: list[str]) -> list[str]:
    """Return the executors with the least state first; of equals those on the node with the fewest
    executors, so that nodes become empty, and of these the youngest.
    """
    unit = _mean_unit(states)
    crowd = Counter(states.facts.nodes.get(host, host) for host in states.staying)

    def key(executor: str) -> tuple[int, int]:
        node = states.facts.nodes.get(executor)
        # Rounded to partitions, so that a few bytes do not outweigh the node and the age.
        return round(states.weight(executor) / unit), crowd[node] if node else 0

    # A stable sort keeps this order among equals: the oldest executors are the warmest.
    youngest_first = executors[::-1]
    return sorted(youngest_first, key=key)


def _mean_unit(states: ExecutorStates) -> float:
    """Return the mean weight of a state partition: less than half of it is no difference between
    two executors.
    """
    units = len(states.facts.holders)
    total = sum((states.facts.weights or {}).get(unit, 1.0) for unit in states.facts.holders)
    return total / units if units and total > 0 else 1.0
