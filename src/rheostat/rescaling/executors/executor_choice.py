"""Who works, who stands by, who leaves, who is kept: the choices among executors that a target
makes necessary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from rheostat.rescaling.executors.executor_lifecycle import DONE, KEEPABLE, TAKING
from rheostat.rescaling.executors.executor_states import ExecutorStates

_READY_FIRST = ("warm", "standby", "warming", "registered")
"""Phases of executors that do no state work yet, those that could begin soonest first."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The executors that are to leave now, and the leaving ones that are taken back."""

    leaving: Collection[str]
    kept: Collection[str]


@dataclass(frozen=True, slots=True)
class Need:
    """The executors that the target does not need, which get no state, and whether nobody else can
    take any.
    """

    spare: Collection[str]
    nobody_takes: bool


def choice_of(roster: ExecutorStates) -> Choice:
    """Return who leaves and who is taken back."""
    return Choice(leaving=_leaving(roster), kept=_kept(roster))


def need_of(roster: ExecutorStates) -> Need:
    """Return whom the target needs."""
    idle = spare(roster)
    return Need(
        spare=idle,
        nobody_takes=not taking(roster, idle) and not roster.those_in({"standby"}),
    )


def taking(roster: ExecutorStates, idle: Collection[str]) -> list[str]:
    """Return the executors that may be given state, which those in ``idle`` may not."""
    return [executor for executor in roster.those_in(TAKING) if executor not in idle]


def spare(roster: ExecutorStates) -> tuple[str, ...]:
    """Return the executors without which the target is reached, those that could begin to work
    soonest first.

    Who holds state works, but for what strayed to an executor in standby.
    """
    others = [executor for executor in roster.staying if executor not in roster.replaced]
    free = [
        executor
        for phase in _READY_FIRST
        for executor in others
        if roster.phase(executor) == phase and _is_free(roster, executor)
    ]
    # Those that work already fill the target first: their state need not move.
    return tuple(free[max(0, roster.target - (len(others) - len(free))) :])


def _leaving(roster: ExecutorStates) -> tuple[str, ...]:
    """Return the executors that are to leave now.

    What is above the target goes: first those that are to be replaced anyway, then those with the
    least state, of equals those on the emptiest node, then the youngest. Executors in standby are
    not above it, as long as they are not more than asked for: after a scale-in they are as ready as
    before. An executor to be replaced goes only when others have settled in its stead.
    """
    replaced, idle = _least_state_first(roster, roster.replaced), spare(roster)
    others = [executor for executor in roster.staying if executor not in replaced]
    working = [executor for executor in others if executor not in idle]
    surplus = (
        # The first of the idle stand by, so those that could begin to work last are the ones to go.
        *idle[roster.standby :],
        *_least_state_first(roster, working)[: max(0, len(working) - roster.target)],
    )
    # More than the target are there, so the replaced ones have their successors and may all go.
    if surplus or not replaced:
        return (*replaced, *surplus)
    # As many may go as others have settled: state never lies on fewer executors than the target.
    settled = sum(roster.phase(executor) in DONE for executor in others)
    return tuple(replaced[: max(0, settled + len(replaced) - roster.target)])


def _kept(roster: ExecutorStates) -> tuple[str, ...]:
    """Return the leaving executors that a higher target takes back: those with the most state, not
    those to be replaced.

    They come before those in standby: their state need not move.
    """
    lacking = max(
        0, roster.target - sum(roster.phase(executor) != "standby" for executor in roster.staying)
    )
    leaving = _least_state_first(roster, roster.those_in(KEEPABLE))[::-1]
    # A stable sort: among those not to be replaced the most state stays first.
    return tuple(sorted(leaving, key=lambda executor: executor in roster.replacing)[:lacking])


def request_total(roster: ExecutorStates) -> int:
    """Return how many executors the cluster should run: the target, one more for each that waits to
    be replaced, and the standby.
    """
    # The successor is asked for before its predecessor goes, so one more is there for a while.
    return roster.target + len(roster.replaced) + roster.standby


def _is_free(roster: ExecutorStates, executor: str) -> bool:
    return roster.phase(executor) == "standby" or not roster.held(executor)


def _least_state_first(roster: ExecutorStates, executors: list[str]) -> list[str]:
    """Of equals those on the node with the fewest executors come first, so that nodes become
    empty, and of these the youngest.
    """
    unit = _mean_unit(roster)
    crowd = Counter(roster.facts.nodes.get(each, each) for each in roster.staying)

    def key(executor: str) -> tuple[int, int]:
        node = roster.facts.nodes.get(executor)
        # Rounded to whole partitions, or a few bytes would decide before the node and the age do.
        return round(roster.weight(executor) / unit), crowd[node] if node else 0

    # A stable sort keeps this order among equals: the youngest goes, the oldest is the warmest.
    youngest_first = executors[::-1]
    return sorted(youngest_first, key=key)


def _mean_unit(roster: ExecutorStates) -> float:
    """Return the weight of a state partition in the mean: less than half of one is no difference
    between two executors.
    """
    units = len(roster.facts.holders)
    whole = sum((roster.facts.weights or {}).get(unit, 1.0) for unit in roster.facts.holders)
    return whole / units if units and whole > 0 else 1.0
