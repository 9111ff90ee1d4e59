"""The first pass of a step: which executors came and went since the last one, and whether what was
sent then has stayed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from rheostat.protocols.executors.conditions import ARRIVALS
from rheostat.protocols.executors.executor_lifecycle import KEEPABLE
from rheostat.protocols.executors.executor_states import ExecutorStates, walk
from rheostat.protocols.executors.facts import Facts
from rheostat.protocols.executors.memory import Life, Memory
from rheostat.protocols.executors.phase_limits import Waits
from rheostat.state.units import Unit


def arrive(
    memory: Memory,
    facts: Facts,
    target: int,
    to_replace: Collection[str],
    standby: int,
    waits: Waits,
) -> ExecutorStates:
    """Return the state of every executor after it came, went, or was verified; ``to_replace`` are
    the executors to replace.
    """
    states = ExecutorStates(
        facts=facts,
        target=target,
        standby=standby,
        waits=waits,
        lives=_lives(memory, facts),
        boundary=_is_boundary(memory, facts, waits),
        replacing=_replacing(memory, facts, to_replace, waits),
    )
    came = walk(states, ARRIVALS, None)
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
    memory: Memory, facts: Facts, to_replace: Collection[str], waits: Waits
) -> dict[str, float]:
    """An abandoned replacement is forgotten after the same time again, so that it can be requested
    once more.
    """
    known = {
        executor: min(since_s, facts.now_s)
        for executor, since_s in memory.replacing.items()
        # The first ``replace_s`` is the wait for a successor, the second the time of abandonment.
        if executor in facts.registered and facts.now_s - since_s < 2 * waits.replace_s
    }
    new = [executor for executor in to_replace if executor in facts.registered]
    return {**known, **{executor: facts.now_s for executor in new if executor not in known}}


def _progressed(states: ExecutorStates, executor: str, life: Life) -> Life:
    """The wait for a leaving executor restarts whenever it holds fewer units than before."""
    # No progress: the clock runs on, so that state which never moves cannot hold a draining
    # candidate forever.
    if life.phase not in KEEPABLE or states.held(executor) >= life.left:
        return life
    return replace(life, since_s=states.facts.now_s, left=states.held(executor))


def _verified(states: ExecutorStates, sent: Mapping[Unit, str], executor: str, life: Life) -> Life:
    """At a boundary, verify what was sent before it: an executor on which all of it stayed counts
    its tries from 0 again.
    """
    if not states.boundary or executor not in sent.values():
        return life
    holders = states.facts.holders
    # Units of a query that has ended since are neither kept nor lost.
    theirs = [unit for unit, to in sent.items() if to == executor and unit in holders]
    stayed = all(holders[unit] == executor for unit in theirs)
    return replace(life, tries=0 if stayed else life.tries + 1)
