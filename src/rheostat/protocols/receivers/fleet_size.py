"""Computes the number of receivers and their executors (SPARK-12133, version 3), step by step.

The document announces version 3 without specifying it; these rules are ours. The placement and the
moves of receivers follow the rules of version 2.
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
"""The maximum load of a receiver as a share of its capacity: the rest absorbs bursts until another
one has started."""

DOWN_SHARE = 0.5
"""One receiver is removed only if the others would carry at most this share; between the two shares
nothing changes."""

HOLD_S = 60.0
"""The seconds for which that must hold before a receiver is removed."""

BUSY = 0.2
"""The minimum busy share of a sample that measures the capacity: rows per busy second of an idle
receiver are noise."""


@dataclass(frozen=True, slots=True)
class Start:
    """Start a receiver on an executor."""

    executor: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop a receiver after it has finished its requests."""

    receiver: int


FleetOrder: TypeAlias = Start | Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetLimits:
    """The minimum and maximum number of receivers."""

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
    """The present facts: the staying executors, oldest first, the leaving ones, the cores of each,
    and the executor of each receiver that was not dismissed.

    ``running`` are the receivers in service. ``rows_per_s`` is their total rate, ``capacity`` the
    capacity of one, both None if unknown.
    """

    executors: tuple[str, ...]
    leaving: frozenset[str] = frozenset()
    cores: int = 1
    receivers: Mapping[int, str] = field(default_factory=dict)
    running: frozenset[int] = frozenset()
    rows_per_s: float | None = None
    capacity: float | None = None


def receivers_for(input_rows_per_s: float, capacity_rows_per_s: float, share: float = 1.0) -> int:
    """Return how many receivers the input needs: ceil(rate / (share x one receiver's measured
    capacity)), at least one (version 3).

    ``share`` (0..1] is the part of its capacity that a receiver may carry. Raises BadInput for a
    value out of range.
    """
    if not (0 <= input_rows_per_s < math.inf and 0 < capacity_rows_per_s < math.inf):
        given = f"{input_rows_per_s} and {capacity_rows_per_s} rows/s"
        raise BadInput(
            f"the rate must be at least 0 and a receiver's capacity above 0, but they are {given}"
        )
    if not 0 < share <= 1:
        raise BadInput(f"share must be in (0, 1], but it is {share}")
    return max(1, math.ceil(input_rows_per_s / (share * capacity_rows_per_s)))


def measured_capacity(samples: Sequence[tuple[float, float]]) -> float | None:
    """Return the capacity of one receiver in rows per second: the median, over samples of (rows per
    second, busy share), of rows per busy second; None if none was busy enough.
    """
    # A sample may include busy time from before it: a share above 1 would lower the capacity.
    capacities = [rate / min(1.0, busy) for rate, busy in samples if busy >= BUSY and rate > 0]
    return statistics.median(capacities) if capacities else None


def wanted_receivers(
    facts: FleetFacts, present: int, limits: FleetLimits, low_since_s: float | None, now: float
) -> tuple[int, float | None]:
    """Return how many receivers the load requires if ``present`` exist, and since when one fewer
    would suffice (None: it would not).

    Receivers are added at once, and one is removed after ``HOLD_S``; their number stays while the
    rate or the capacity is unknown. Whether the executors have cores for them is not checked here.
    """
    count, most = max(present, limits.least), limits.most
    if facts.rows_per_s is None or facts.capacity is None or not facts.executors:
        return min(count, most), None
    up = receivers_for(facts.rows_per_s, facts.capacity, UP_SHARE)
    down = receivers_for(facts.rows_per_s, facts.capacity, DOWN_SHARE)
    # Scale out at once, in after a minute: rows that are not received may be lost, an idle core is
    # only a cost.
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
    """Return the orders of this step, and the new memory.

    To move a receiver, its successor is started first, and the receiver is stopped when the
    successor serves. Memory holds ``low_since_s``, ``balanced_s``, ``demanded`` (what the load
    requires), ``wanted`` (how many of them the executors can hold) and ``replaced`` (the receivers
    that stop once all others serve).
    """
    replaced = [known for known in memory.get("replaced", []) if known in facts.receivers]
    replaced += [
        receiver
        for receiver, executor in sorted(facts.receivers.items())
        if executor not in facts.executors and receiver not in replaced
    ]
    orders: list[FleetOrder] = [Stop(gone) for gone in _lost_receivers(facts, replaced)]
    # Receivers to be replaced still serve, but only their successors count.
    staying = {
        receiver: executor
        for receiver, executor in facts.receivers.items()
        if receiver not in replaced
    }
    present, since_s = len(staying), memory.get("low_since_s")
    demanded, low_since_s = wanted_receivers(facts, present, limits, since_s, now)
    # The required number is kept as well: the sensor reports it, and executors are added for it.
    wanted = min(demanded, receivers_held(len(facts.executors), facts.cores))
    counts = Counter(staying.values())
    orders += _start_missing(facts, wanted - len(staying), counts)
    starts = len(orders)
    # No receiver is stopped before all successors serve, so there are temporarily too many.
    served = facts.running >= staying.keys() and len(staying) >= min(wanted, 1) and not starts
    if served:
        orders += [Stop(receiver) for receiver in replaced]
        orders += _stop_surplus(len(staying) - wanted, staying, facts.executors)
    balanced_s = memory.get("balanced_s", now)
    # Rebalancing waits for everything else: a receiver moves for one reason at a time.
    if now - balanced_s >= BALANCE_S and not orders and not replaced and served:
        moved = _rebalanced(facts, staying, counts)
        replaced += [receiver for receiver, _ in moved]
        orders += [start for _, start in moved]
        # A minute counts from the last check, with or without a move, as in the document.
        balanced_s = now
    kept = {
        "low_since_s": low_since_s,
        "balanced_s": balanced_s,
        "replaced": replaced,
        "demanded": demanded,
        "wanted": wanted,
    }
    return orders, kept


def _lost_receivers(facts: FleetFacts, replaced: Collection[int]) -> list[int]:
    """Return the receivers whose executor was lost, and that ended with it."""
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
    """Stop one receiver at a time: the youngest of the fullest executor."""
    if surplus <= 0:
        return []
    counts = Counter(staying.values())
    # Of equally full executors the youngest, which is the next to leave.
    fullest = max(reversed(executors), key=lambda executor: counts[executor])
    return [Stop(max(receiver for receiver, executor in staying.items() if executor == fullest))]


def _rebalanced(
    facts: FleetFacts, staying: Mapping[int, str], counts: Counter[str]
) -> list[tuple[int, Start]]:
    """Return the receiver to replace and its successor's start, by the rule of version 2; empty if
    the receivers are balanced.
    """
    before = [counts[executor] for executor in facts.executors]
    after = rebalanced(before)
    if after == before:
        return []
    change = [will - was for was, will in zip(before, after, strict=True)]
    giver, taker = facts.executors[change.index(-1)], facts.executors[change.index(1)]
    return [(min(receiver for receiver, at in staying.items() if at == giver), Start(taker))]
