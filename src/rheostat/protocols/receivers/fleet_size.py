"""How many receivers there should be and where (SPARK-12133, version 3): pure, a step at a time.

The document announces version 3 and does not specify it; these rules are ours. Where receivers run,
and when one moves, are the rules of version 2.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rheostat.capacity.receiver_cores import receivers_held
from rheostat.errors import BadInput
from rheostat.model import Memory
from rheostat.protocols.receivers.receiver_moves import BALANCE_S, rebalanced

UP_SHARE = 0.7
"""A receiver shall carry at most this share of its ceiling: the rest is for bursts until another
one has come."""

DOWN_SHARE = 0.5
"""One less only where the others would carry at most this share; between the two nothing
changes."""

HOLD_S = 60.0
"""One less only where that has been so for a minute."""

BUSY = 0.2
"""A sample tells the ceiling only if the receiver was busy for this share of it: rows per busy
second of an idle one are noise."""


@dataclass(frozen=True, slots=True)
class Start:
    """Start a receiver on an executor."""

    executor: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Let a receiver end what it has begun, and go."""

    receiver: int


FleetOrder: TypeAlias = Start | Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetLimits:
    """The fewest and the most receivers."""

    least: int = 1
    most: int = 4

    def __post_init__(self) -> None:
        for value in (self.least, self.most):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise BadInput(f"receivers must be a whole number from 1, but it is {value!r}")
        if self.least > self.most:
            raise BadInput(f"min receivers ({self.least}) is above max receivers ({self.most})")


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFacts:
    """What is so: the executors that stay, oldest first, those that leave, the cores of one, and
    where each receiver runs or has been sent (not those that have been told to go).

    ``running`` are those that serve. ``rows_per_s`` is what all take in, ``ceiling`` what one can
    take, both None where nothing is known.
    """

    executors: tuple[str, ...]
    leaving: frozenset[str] = frozenset()
    cores: int = 1
    receivers: Mapping[int, str] = field(default_factory=dict)
    running: frozenset[int] = frozenset()
    rows_per_s: float | None = None
    ceiling: float | None = None


def receivers_for(input_rows_per_s: float, ceiling_rows_per_s: float, share: float = 1.0) -> int:
    """Return how many receivers the input needs: ceil(rate / (share x one receiver's measured
    ceiling)), at least one (version 3).

    ``share`` (0..1] is the part of its ceiling that a receiver may carry. Raises BadInput for a
    value out of range.
    """
    if not (0 <= input_rows_per_s < math.inf and 0 < ceiling_rows_per_s < math.inf):
        given = f"{input_rows_per_s} and {ceiling_rows_per_s} rows/s"
        raise BadInput(
            f"the rate must be at least 0 and a receiver's ceiling above 0, but they are {given}"
        )
    if not 0 < share <= 1:
        raise BadInput(f"share must be in (0, 1], but it is {share}")
    return max(1, math.ceil(input_rows_per_s / (share * ceiling_rows_per_s)))


def measured_ceiling(samples: Sequence[tuple[float, float]]) -> float | None:
    """Return the rows per second that one receiver can take: the median, over samples of (rows per
    second, busy share), of rows per busy second; None where none was busy enough.
    """
    # A sample may count busy time that began before it: above 1 it would lower the ceiling.
    ceilings = [rate / min(1.0, busy) for rate, busy in samples if busy >= BUSY and rate > 0]
    return statistics.median(ceilings) if ceilings else None


def wanted_receivers(
    facts: FleetFacts, there: int, limits: FleetLimits, low_since_s: float | None, now: float
) -> tuple[int, float | None]:
    """Return how many receivers the load asks for where so many are ``there``, and since when one
    less would do (None: it would not).

    More at once, one less after ``HOLD_S``; as many as there are while the rate or the ceiling is
    unknown. Whether the executors have cores for them is not asked here.
    """
    count, most = max(there, limits.least), limits.most
    if facts.rows_per_s is None or facts.ceiling is None or not facts.executors:
        return min(count, most), None
    up = receivers_for(facts.rows_per_s, facts.ceiling, UP_SHARE)
    down = receivers_for(facts.rows_per_s, facts.ceiling, DOWN_SHARE)
    # More comes at once, less after a minute: rows that nobody takes in may be lost, an idle core
    # is not.
    if up > count:
        return min(up, most), None
    if down < count and count > limits.least:
        since_s = now if low_since_s is None else low_since_s
        if now - since_s >= HOLD_S:
            return min(count - 1, most), None
        return min(count, most), since_s
    return min(count, most), None


def fleet_step(
    facts: FleetFacts, limits: FleetLimits, memory: Memory, now: float
) -> tuple[list[FleetOrder], Memory]:
    """Return what to do now, and what to remember.

    A receiver that moves is started first and stopped when the new one serves: until then there is
    one more. Memory holds ``low_since_s``, ``balanced_s``, ``asked`` (what the load asks for),
    ``wanted`` (what the executors hold of it) and ``replaced`` (the receivers that go once all
    others serve).
    """
    replaced = [known for known in memory.get("replaced", []) if known in facts.receivers]
    replaced += [
        receiver
        for receiver, executor in sorted(facts.receivers.items())
        if executor not in facts.executors and receiver not in replaced
    ]
    orders: list[FleetOrder] = [Stop(gone) for gone in _gone(facts, replaced)]
    # Those on the way out still serve, but their successors are what counts.
    staying = {
        receiver: executor
        for receiver, executor in facts.receivers.items()
        if receiver not in replaced
    }
    there, since_s = len(staying), memory.get("low_since_s")
    demanded, low_since_s = wanted_receivers(facts, there, limits, since_s, now)
    # What the load asks for is kept as well: the sensor shows it, and executors come for it.
    wanted = min(demanded, receivers_held(len(facts.executors), facts.cores))
    counts = Counter(staying.values())
    orders += _start_missing(facts, wanted - len(staying), counts)
    starts = len(orders)
    # Nobody is stopped before all successors serve: between the two there are rather too many.
    served = facts.running >= staying.keys() and len(staying) >= min(wanted, 1) and not starts
    if served:
        orders += [Stop(receiver) for receiver in replaced]
        orders += _stop_surplus(len(staying) - wanted, staying, facts.executors)
    balanced_s = memory.get("balanced_s", now)
    # Balance waits until nothing else is under way: a receiver moves for one reason at a time.
    if now - balanced_s >= BALANCE_S and not orders and not replaced and served:
        moved = _rebalanced(facts, staying, counts)
        replaced += [receiver for receiver, _ in moved]
        orders += [start for _, start in moved]
        # A minute counts from the last look, balanced or not: the document's rule is once a minute.
        balanced_s = now
    kept = {
        "low_since_s": low_since_s,
        "balanced_s": balanced_s,
        "replaced": replaced,
        "asked": demanded,
        "wanted": wanted,
    }
    return orders, kept


def _gone(facts: FleetFacts, replaced: Collection[int]) -> list[int]:
    """Return the receivers whose executor is neither there nor leaving: they have died with it."""
    known = {*facts.executors, *facts.leaving}
    return [receiver for receiver in replaced if facts.receivers[receiver] not in known]


def _start_missing(facts: FleetFacts, missing: int, counts: Counter[str]) -> list[FleetOrder]:
    orders: list[FleetOrder] = []
    for _ in range(missing):
        free = [name for name in facts.executors if counts[name] < facts.cores]
        if not free:
            break
        chosen = min(free, key=lambda executor: (counts[executor], facts.executors.index(executor)))
        counts[chosen] += 1
        orders.append(Start(chosen))
    return orders


def _stop_surplus(
    surplus: int, staying: Mapping[int, str], executors: tuple[str, ...]
) -> list[FleetOrder]:
    """Stop one at a time, the youngest of the fullest executor."""
    if surplus <= 0:
        return []
    counts = Counter(staying.values())
    # Of equally full ones the youngest executor: it is the next to leave.
    fullest = max(reversed(executors), key=lambda executor: counts[executor])
    return [Stop(max(receiver for receiver, executor in staying.items() if executor == fullest))]


def _rebalanced(
    facts: FleetFacts, staying: Mapping[int, str], counts: Counter[str]
) -> list[tuple[int, Start]]:
    """Return the receiver to be replaced and where its successor starts, by the rule of version 2;
    nothing where all is balanced.
    """
    before = [counts[executor] for executor in facts.executors]
    after = rebalanced(before)
    if after == before:
        return []
    change = [will - was for was, will in zip(before, after, strict=True)]
    giver, taker = facts.executors[change.index(-1)], facts.executors[change.index(1)]
    return [(min(receiver for receiver, at in staying.items() if at == giver), Start(taker))]
