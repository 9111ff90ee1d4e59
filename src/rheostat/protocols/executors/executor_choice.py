"""The choices that a target makes necessary: which executors work, stand by, leave or are kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from rheostat.protocols.executors.executor_states import ExecutorStates
from rheostat.protocols.executors.memory import DONE, KEEPABLE, TAKING

_READY_FIRST = ("warm", "standby", "warming", "registered")
"""Phases of executors that do no state work yet, those that could begin soonest first."""


def with_choice(states: ExecutorStates) -> ExecutorStates:
    """Return the states with the executors that leave and those that are kept."""
    return replace(states, leaving=_leaving(states), kept=_kept(states))


def with_need(states: ExecutorStates) -> ExecutorStates:
    """Return the states with the executors that the target does not need."""
    states = replace(states, idle=spare(states))
    none_takes = not taking(states) and not states.those_in({"standby"})
    return replace(states, none_takes=none_takes)


def taking(states: ExecutorStates) -> list[str]:
    """Return the executors that may receive state, which idle ones may not."""
    return [executor for executor in states.those_in(TAKING) if executor not in states.idle]


def spare(states: ExecutorStates) -> tuple[str, ...]:
    """Return the executors without which the target is reached, those that could begin to work
    soonest first.

    An executor that holds state works, except where state strayed to one in standby.
    """
    others = [executor for executor in states.staying if executor not in states.replaced]
    free = [
        executor
        for phase in _READY_FIRST
        for executor in others
        if states.phase(executor) == phase and _is_free(states, executor)
    ]
    # Those that work already fill the target first: their state need not move.
    return tuple(free[max(0, states.target - (len(others) - len(free))) :])


def _leaving(states: ExecutorStates) -> tuple[str, ...]:
    """Return the executors that are to leave now.

    What is above the target goes: first those that are to be replaced anyway, then those with the
    least state, of equals those on the emptiest node, then the youngest. Executors in standby are
    not above it, as long as they are not more than asked for: after a scale-in they are as ready as
    before. An executor to be replaced goes only when others are ready in its place.
    """
    replaced, idle = _least_state_first(states, states.replaced), spare(states)
    others = [executor for executor in states.staying if executor not in replaced]
    working = [executor for executor in others if executor not in idle]
    surplus = (
        # The first of the idle stand by, so those that could begin to work last are the ones to go.
        *idle[states.standby :],
        *_least_state_first(states, working)[: max(0, len(working) - states.target)],
    )
    # More than the target are there, so the replaced ones have their successors and may all go.
    if surplus or not replaced:
        return (*replaced, *surplus)
    # As many may go as others are ready: state never lies on fewer executors than the target.
    ready = sum(states.phase(executor) in DONE for executor in others)
    return tuple(replaced[: max(0, ready + len(replaced) - states.target)])


def _kept(states: ExecutorStates) -> tuple[str, ...]:
    """Return the leaving executors that a higher target takes back: those with the most state, not
    those to be replaced.

    They come before those in standby: their state need not move.
    """
    lacking = max(
        0, states.target - sum(states.phase(executor) != "standby" for executor in states.staying)
    )
    leaving = _least_state_first(states, states.those_in(KEEPABLE))[::-1]
    # A stable sort: among those not to be replaced the most state stays first.
    return tuple(sorted(leaving, key=lambda executor: executor in states.replacing)[:lacking])


def request_total(states: ExecutorStates) -> int:
    """Return how many executors the cluster should run: the target, one more for each that waits to
    be replaced, and the standby.
    """
    # The successor is asked for before its predecessor goes, so one more is there for a while.
    return states.target + len(states.replaced) + states.standby


def _is_free(states: ExecutorStates, executor: str) -> bool:
    return states.phase(executor) == "standby" or not states.held(executor)


def _least_state_first(states: ExecutorStates, executors: list[str]) -> list[str]:
    """Of equals those on the node with the fewest executors come first, so that nodes become
    empty, and of these the youngest.
    """
    unit = _mean_unit(states)
    crowd = Counter(states.facts.nodes.get(host, host) for host in states.staying)

    def key(executor: str) -> tuple[int, int]:
        node = states.facts.nodes.get(executor)
        # Rounded to whole partitions, or a few bytes would decide before the node and the age do.
        return round(states.weight(executor) / unit), crowd[node] if node else 0

    # A stable sort keeps this order among equals: the youngest goes, the oldest is the warmest.
    youngest_first = executors[::-1]
    return sorted(youngest_first, key=key)


def _mean_unit(states: ExecutorStates) -> float:
    """Return the weight of a state partition in the mean: less than half of one is no difference
    between two executors.
    """
    units = len(states.facts.holders)
    total = sum((states.facts.weights or {}).get(unit, 1.0) for unit in states.facts.holders)
    return total / units if units and total > 0 else 1.0
