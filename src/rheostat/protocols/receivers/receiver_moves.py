"""Decides which executors leave and where receivers run when an application with receivers is
rescaled (SPARK-12133): pure, one step at a time from facts and memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

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


class _Step:
    """The orders of a step; ``leaving`` and ``moving`` are what leaves and moves after them."""

    def __init__(self, facts: ReceiverFacts, memory: Memory, now: float) -> None:
        self._facts, self._now = facts, now
        self.orders: list[ReceiverOrder] = []
        self.leaving: dict[str, float] = {
            executor: since
            for executor, since in memory.get("leaving", {}).items()
            if executor in facts.executors
        }
        # Before any order: the receiver of a failed move can then be sent again.
        self.moving: dict[str, list[Any]] = {
            receiver: [to, since]
            for receiver, (to, since) in memory.get("moving", {}).items()
            if self._is_on_its_way(int(receiver), to, since)
        }

    @property
    def _staying(self) -> list[str]:
        return [executor for executor in self._facts.executors if executor not in self.leaving]

    def _is_on_its_way(self, receiver: int, to: str, since: float) -> bool:
        """Return whether a move has neither arrived, nor timed out, nor lost its executor."""
        has_arrived = self._facts.receivers.get(receiver) == to
        return not has_arrived and self._now - since < MOVE_S and to in self._staying

    def resize(self, target: int | None) -> tuple[str, str]:
        """Reconcile the target, choose a leaving executor, and return the phase and its detail."""
        late = tuple(
            executor for executor, since in self.leaving.items() if self._now - since >= LEAVE_S
        )
        if late:
            self.orders.append(Kill(late))
        if target is None:
            return "steady", "no size has been decided yet"
        # The receivers' cores take precedence over the decision: with fewer, a receiver or all
        # batches stop.
        count, cores, staying = len(self._facts.receivers), self._facts.cores, self._staying
        needed = executors_holding(count, cores)
        total = max(target, needed)
        self.orders.append(Request(total))
        if len(staying) < total:
            return "growing", f"{len(staying)} of {total} executors are registered"
        if self.leaving:
            return "shrinking", f"executor {', '.join(self.leaving)} is leaving"
        if len(staying) > total:
            return self._release_one()
        if target < needed:
            return "blocked", f"{cores_needed(count)}: {needed} executors of {cores}, not {target}"
        return "steady", f"{total} executors"

    def _release_one(self) -> tuple[str, str]:
        counts = Counter(executor for executor in self._facts.receivers.values() if executor)
        # A starting receiver has no known executor: it might be the candidate.
        if None in self._facts.receivers.values():
            return "blocked", "a receiver is starting: no executor leaves before it runs"
        # The youngest of those with the fewest receivers: this moves least, and keeps the warmest.
        candidate = min(reversed(self._staying), key=lambda executor: counts[executor])
        held = counts[candidate]
        if held and not self._facts.moves:
            return "blocked", "each executor holds a receiver, and receivers stay where they are"
        self.leaving[candidate] = self._now
        self.orders.append(Decommission((candidate,)))
        moves = f", {held} receivers move" if held else ""
        return "shrinking", f"executor {candidate} leaves{moves}"

    def move_off(self) -> None:
        """Move each receiver of the leaving executors to the least loaded of the others."""
        counts = self._counts()
        for receiver, executor in sorted(self._facts.receivers.items()):
            if executor in self.leaving and str(receiver) not in self.moving and self._staying:
                self._send(receiver, counts)

    def rebalance(self) -> None:
        """Move one receiver by the rule of 1 + N_avg, if it requires a move and all receivers run;
        no executor leaves.
        """
        facts, counts = self._facts, self._counts()
        if not facts.moves or len(facts.executors) < 2 or None in facts.receivers.values():
            return
        before = [counts[executor] for executor in facts.executors]
        changes = zip(facts.executors, before, rebalanced(before), strict=True)
        # The rule moves one receiver per minute, so there is at most one giver.
        for giver in [executor for executor, was, will in changes if will < was]:
            receivers = [r for r, executor in facts.receivers.items() if executor == giver]
            self._send(min(receivers), counts)

    def _counts(self) -> Counter[str]:
        """Return the receivers of each executor, those on their way at their target: otherwise two
        would be sent to the same executor.
        """
        goals = {int(receiver): to for receiver, (to, _) in self.moving.items()}
        where = {**self._facts.receivers, **goals}
        return Counter(executor for executor in where.values() if executor)

    def _send(self, receiver: int, counts: Counter[str]) -> None:
        to = min(self._staying, key=lambda executor: (counts[executor], executor))
        # Counted at once, so that several receivers of one executor spread over the others.
        counts[to] += 1
        self.moving[str(receiver)] = [to, self._now]
        self.orders.append(Move(receiver, to))


def step(
    facts: ReceiverFacts, target: int | None, memory: Memory, now: float
) -> tuple[list[ReceiverOrder], Rescaling]:
    """Return the orders of this step, and the progress with the new memory.

    ``target`` is reconciled in each step; None before a decision, when executors stay as they are.
    One executor leaves at a time and one receiver is rebalanced at a time. Memory holds ``leaving``
    (executor -> since), ``moving`` (receiver -> [executor, since]) and ``balanced_s``.
    """
    state = _Step(facts, memory, now)
    phase, detail = state.resize(target)
    state.move_off()
    balanced_s = memory.get("balanced_s", now)
    # Not during a rescale, which moves and thereby balances receivers itself.
    if now - balanced_s >= BALANCE_S and not state.leaving and not state.moving:
        state.rebalance()
        balanced_s = now
    leaving, moving = state.leaving, state.moving
    if moving and not leaving:
        moves = (f"receiver {receiver} moves to {to}" for receiver, (to, _) in moving.items())
        phase, detail = "balancing", ", ".join(moves)
    kept = {"leaving": leaving, "moving": moving, "balanced_s": balanced_s}
    return state.orders, Rescaling(phase=phase, detail=detail, memory=kept)


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
