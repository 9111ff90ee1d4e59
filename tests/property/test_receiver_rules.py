"""The rules of SPARK-12133 for receivers, compared with brute force: the document's rules, tried
one executor at a time in exact fractions.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.capacity.receiver_cores import executors_holding
from rheostat.protocols.orders import Decommission, Request
from rheostat.protocols.receivers.receiver_moves import (
    BALANCE_S,
    Move,
    ReceiverFacts,
    rebalanced,
    step,
)

CORES = 4
THOUSAND = settings(max_examples=1000, deadline=None)
allocations = st.lists(st.integers(0, CORES), min_size=1, max_size=6)


@THOUSAND
@given(allocations)
def test_a_rebalancing_step_follows_the_documented_rules(allocation):
    average = Fraction(sum(allocation), len(allocation))
    givers = [n for n, count in enumerate(allocation) if count >= 1 + average]
    least = min(allocation)
    allowed: set[tuple[int, ...]] = set()
    for giver in givers:
        for taker, count in enumerate(allocation):
            if taker != giver and count == least and len(allocation) > 1:
                moved = list(allocation)
                moved[giver] -= 1
                moved[taker] += 1
                allowed.add(tuple(moved))
    after = tuple(rebalanced(allocation))
    assert after in (allowed or {tuple(allocation)})


@THOUSAND
@given(allocations)
def test_rebalancing_terminates_with_even_counts(allocation):
    for _ in range(sum(allocation) + 1):
        after = rebalanced(allocation)
        if after == allocation:
            break
        allocation = after
    average = Fraction(sum(allocation), len(allocation))
    assert rebalanced(allocation) == allocation
    assert all(count < 1 + average for count in allocation) or len(allocation) == 1


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 6),
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 20)), min_size=1, max_size=6),
)
def test_every_receiver_and_the_batches_always_have_a_core(receivers, decided):
    executors = [str(n) for n in range(6)]
    where: dict[int, str | None] = {n: executors[n % 6] for n in range(receivers)}
    memory: object = {}
    now, started = 0.0, 6
    for target, ticks in decided:
        for _ in range(ticks):
            now += BALANCE_S / 4
            facts = ReceiverFacts(executors=tuple(executors), receivers=dict(where), cores=CORES)
            orders, rescaling = step(facts, target, memory, now)  # type: ignore[arg-type]
            memory = rescaling.memory
            for order in orders:
                if isinstance(order, Move):
                    where[order.receiver] = order.executor
            for order in orders:
                if isinstance(order, Decommission):
                    executors = [
                        executor for executor in executors if executor not in order.executors
                    ]
                elif isinstance(order, Request):
                    missing = order.total - len(executors)
                    executors += [str(started + n) for n in range(missing)]
                    started += max(0, missing)
            held = Counter(where.values())
            assert set(held) <= set(executors)
            assert all(count <= CORES for count in held.values())
            assert len(executors) >= executors_holding(receivers, CORES)
            assert len(executors) * CORES > receivers
