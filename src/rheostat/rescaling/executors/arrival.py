"""The first look of a step: who came and who went since the last, and what came of what was sent
then.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from rheostat.rescaling.executors.conditions import ARRIVALS
from rheostat.rescaling.executors.executor_lifecycle import KEEPABLE
from rheostat.rescaling.executors.executor_states import ExecutorStates, walk
from rheostat.rescaling.executors.facts import Facts
from rheostat.rescaling.executors.memory import Life, Memory
from rheostat.rescaling.executors.phase_limits import Waits
from rheostat.state.units import Unit


def arrive(
    memory: Memory, facts: Facts, target: int, asked: Collection[str], standby: int, waits: Waits
) -> ExecutorStates:
    """Return where every executor stands after it came, went, or was verified; ``asked`` are those
    that are to be replaced.
    """
    roster = ExecutorStates(
        facts=facts,
        target=target,
        standby=standby,
        waits=waits,
        lives=_lives(memory, facts),
        boundary=_is_boundary(memory, facts, waits),
        replacing=_replacing(memory, facts, asked, waits),
    )
    came = walk(roster, ARRIVALS, None)
    lives = {
        executor: _verified(came, memory.sent, executor, _progressed(came, executor, life))
        for executor, life in came.lives.items()
    }
    return replace(came, lives=lives)


def _lives(memory: Memory, facts: Facts) -> dict[str, Life]:
    """A clock that was put back makes nothing late and nothing early: what began in its future
    began now.
    """
    known = {
        executor: replace(life, since_s=min(life.since_s, facts.now_s))
        for executor, life in memory.lives.items()
    }
    new = {
        executor: Life("requested", facts.now_s)
        for executor in facts.registered
        if executor not in known
    }
    return {**known, **new}


def _is_boundary(memory: Memory, facts: Facts, waits: Waits) -> bool:
    if memory.boundary_s is None:
        return False  # the first look falls anywhere into a batch
    # Any other number is a boundary, None as well: with the last query its batches end.
    return facts.batch != memory.batch or (
        facts.batch is None and facts.now_s - memory.boundary_s >= waits.idle_s
    )


def _replacing(
    memory: Memory, facts: Facts, asked: Collection[str], waits: Waits
) -> dict[str, float]:
    """A replacement that was given up is forgotten after as long again, so that it can be asked for
    anew.
    """
    known = {
        executor: min(since_s, facts.now_s)
        for executor, since_s in memory.replacing.items()
        # Once the time to replace, in which it is waited for; then as long again, in which it is
        # given up.
        if executor in facts.registered and facts.now_s - since_s < 2 * waits.replace_s
    }
    new = [executor for executor in asked if executor in facts.registered]
    return {**known, **{executor: facts.now_s for executor in new if executor not in known}}


def _progressed(roster: ExecutorStates, executor: str, life: Life) -> Life:
    """Waiting begins anew for a leaving executor whenever it holds fewer units than before."""
    # No progress: the clock runs on, so that state which never moves cannot hold a victim for ever.
    if life.phase not in KEEPABLE or roster.held(executor) >= life.left:
        return life
    return replace(life, since_s=roster.facts.now_s, left=roster.held(executor))


def _verified(roster: ExecutorStates, sent: Mapping[Unit, str], executor: str, life: Life) -> Life:
    """At a boundary, verify what was sent before it: an executor on which all of it stayed begins
    to count its tries anew.
    """
    if not roster.boundary or executor not in sent.values():
        return life
    holders = roster.facts.holders
    # Units of a query that has ended since are neither kept nor lost.
    theirs = [unit for unit, to in sent.items() if to == executor and unit in holders]
    stayed = all(holders[unit] == executor for unit in theirs)
    return replace(life, tries=0 if stayed else life.tries + 1)
