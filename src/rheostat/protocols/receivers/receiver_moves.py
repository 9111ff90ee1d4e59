"""Decides which executors leave and where receivers run when an application with receivers is
rescaled (SPARK-12133): pure, one step at a time from facts and memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rheostat.capacity.receiver_cores import cores_needed, executors_holding
from rheostat.model import Memory, Rescaling
from rheostat.protocols.orders import Decommission, Kill, Request

BALANCE_S = 60.0
"""The seconds between two rebalancings: one minute in the document."""

MOVE_S = 30.0
"""A receiver that has not started after this many seconds is sent again; on a busy computer it took
1 to 10 s."""

LEAVE_S = 90.0
"""An executor that has not left after this many seconds is killed; its receivers are gone
by then.
"""


@dataclass(frozen=True, slots=True)
class Move:
    """Stop a receiver where it runs and start it on ``executor``."""

    receiver: int
    executor: str


ReceiverOrder: TypeAlias = Request | Decommission | Kill | Move


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverFacts:
    """The present facts: the reachable executors, oldest first, the executor of each receiver (None
    while it starts), the cores of an executor, and whether receivers may be moved (version 2).
    """

    executors: tuple[str, ...]
    receivers: Mapping[int, str | None]
    cores: int
    moves: bool = True


@dataclass(frozen=True, slots=True)
class _Place:
    """The staying executors, and the number of receivers of each, including those on their way."""

    staying: tuple[str, ...]
    counts: Counter[str]

    def least_loaded(self) -> str:
        return min(self.staying, key=lambda executor: (self.counts[executor], executor))


def step(
    facts: ReceiverFacts, target: int | None, memory: Memory, now: float
) -> tuple[list[ReceiverOrder], Rescaling]:
    """Return the orders of this step, and the progress with the new memory.

    ``target`` is reconciled in each step; None before a decision, when executors stay as they are.
    One executor leaves at a time and one receiver is rebalanced at a time. Memory holds ``leaving``
    (executor -> since), ``moving`` (receiver -> [executor, since]) and ``balanced_s``.
    """
    leaving = {
        executor: since
        for executor, since in memory.get("leaving", {}).items()
        if executor in facts.executors
    }
    # Before any order: the receiver of a failed move can then be sent again.
    moving = _still_moving(facts, memory.get("moving", {}), leaving, now)
    orders: list[ReceiverOrder] = []
    status = _resize(facts, target, leaving, orders, now)
    orders += _moves_off(facts, leaving, moving, now)
    balanced_s = memory.get("balanced_s", now)
    # Not during a rescale, which moves and thereby balances receivers itself.
    if now - balanced_s >= BALANCE_S and not leaving and not moving:
        orders += _rebalance(facts, moving, now)
        balanced_s = now
    kept = {"leaving": leaving, "moving": moving, "balanced_s": balanced_s}
    phase, detail = status
    if moving and not leaving:
        moves = (f"receiver {receiver} moves to {to}" for receiver, (to, _) in moving.items())
        phase, detail = "balancing", ", ".join(moves)
    return orders, Rescaling(phase=phase, detail=detail, memory=kept)


def rebalanced(allocation: Sequence[int]) -> list[int]:
    """Return the receivers of each executor a minute later: an executor with at least 1 + N_avg
    receivers passes one to the least loaded executor (version 2).

    N_avg is the mean number of receivers per executor. A stable allocation is returned unchanged.
    """
    after = list(allocation)
    most, count = max(enumerate(after), key=lambda entry: entry[1], default=(0, 0))
    # count >= 1 + N_avg without a division, which might round to the wrong side.
    if len(after) > 1 and (count - 1) * len(after) >= sum(after):
        after[most] -= 1
        after[after.index(min(after))] += 1
    return after


def _still_moving(
    facts: ReceiverFacts,
    moving: Mapping[str, list[object]],
    leaving: Mapping[str, float],
    now: float,
) -> dict[str, list[object]]:
    """Return the moves that have neither arrived, nor timed out, nor lost their target executor."""
    return {
        receiver: [to, since]
        for receiver, (to, since) in moving.items()
        if facts.receivers.get(int(receiver)) != to
        and now - float(str(since)) < MOVE_S
        and to in facts.executors
        and to not in leaving
    }


def _resize(
    facts: ReceiverFacts,
    target: int | None,
    leaving: dict[str, float],
    orders: list[ReceiverOrder],
    now: float,
) -> tuple[str, str]:
    """Reconcile the target and choose a leaving executor; updates ``leaving`` and ``orders``."""
    late = tuple(executor for executor, since in leaving.items() if now - since >= LEAVE_S)
    if late:
        orders.append(Kill(late))
    staying = [executor for executor in facts.executors if executor not in leaving]
    if target is None:
        return "steady", "no size has been decided yet"
    # The receivers' cores take precedence over the decision: with fewer, a receiver or all batches
    # stop.
    needed = executors_holding(len(facts.receivers), facts.cores)
    total = max(target, needed)
    orders.append(Request(total))
    if len(staying) < total:
        return "growing", f"{len(staying)} of {total} executors are registered"
    if leaving:
        return "shrinking", f"executor {', '.join(leaving)} is leaving"
    if len(staying) > total:
        return _release_one(facts, staying, leaving, orders, now)
    if target < needed:
        return "blocked", _too_few(facts, needed, target)
    return "steady", f"{total} executors"


def _release_one(
    facts: ReceiverFacts,
    staying: list[str],
    leaving: dict[str, float],
    orders: list[ReceiverOrder],
    now: float,
) -> tuple[str, str]:
    counts = Counter(executor for executor in facts.receivers.values() if executor)
    # A starting receiver has no known executor: it might be the candidate.
    if None in facts.receivers.values():
        return "blocked", "a receiver is starting: no executor leaves before it runs"
    # The youngest of those with the fewest receivers: this moves least, and keeps the warmest.
    candidate = min(reversed(staying), key=lambda executor: counts[executor])
    if counts[candidate] and not facts.moves:
        return "blocked", "each executor holds a receiver, and receivers stay where they are"
    leaving[candidate] = now
    orders.append(Decommission((candidate,)))
    held = counts[candidate]
    return "shrinking", f"executor {candidate} leaves{f', {held} receivers move' if held else ''}"


def _moves_off(
    facts: ReceiverFacts, leaving: Mapping[str, float], moving: dict[str, list[object]], now: float
) -> list[ReceiverOrder]:
    """Move each receiver of the leaving executors to the least loaded of the others."""
    place = _place(facts, leaving, moving)
    orders: list[ReceiverOrder] = []
    for receiver, executor in sorted(facts.receivers.items()):
        if executor in leaving and str(receiver) not in moving and place.staying:
            orders.append(_send(receiver, place, moving, now))
    return orders


def _rebalance(
    facts: ReceiverFacts, moving: dict[str, list[object]], now: float
) -> list[ReceiverOrder]:
    """Move one receiver by the rule of 1 + N_avg, if it requires a move and all receivers run."""
    if not facts.moves or len(facts.executors) < 2 or None in facts.receivers.values():
        return []
    place = _place(facts, {}, moving)
    before = [place.counts[executor] for executor in place.staying]
    after = rebalanced(before)
    givers = [n for n, (was, will) in enumerate(zip(before, after, strict=True)) if will < was]
    if not givers:
        return []
    # The rule moves one receiver per minute, so there is one giver.
    giver = place.staying[givers[0]]
    receiver = min(
        candidate for candidate, executor in facts.receivers.items() if executor == giver
    )
    return [_send(receiver, place, moving, now)]


def _place(
    facts: ReceiverFacts, leaving: Mapping[str, float], moving: Mapping[str, list[object]]
) -> _Place:
    staying = tuple(executor for executor in facts.executors if executor not in leaving)
    # Moving receivers count at their target, or two would be sent to the same executor.
    goals = {int(receiver): str(to) for receiver, (to, _) in moving.items()}
    where = {**facts.receivers, **goals}
    return _Place(staying, Counter(executor for executor in where.values() if executor))


def _send(
    receiver: int, place: _Place, moving: dict[str, list[object]], now: float
) -> ReceiverOrder:
    to = place.least_loaded()
    # Counted at once, so that several receivers of one executor spread over the others.
    place.counts[to] += 1
    moving[str(receiver)] = [to, now]
    return Move(receiver, to)


def _too_few(facts: ReceiverFacts, needed: int, target: int) -> str:
    wanted = cores_needed(len(facts.receivers))
    return f"{wanted}: {needed} executors of {facts.cores}, not {target}"
