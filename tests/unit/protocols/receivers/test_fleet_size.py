from __future__ import annotations

from collections import Counter

import pytest

from rheostat.errors import BadInput
from rheostat.model import Memory
from rheostat.protocols.receivers.fleet_size import (
    HOLD_S,
    FleetFacts,
    FleetLimits,
    Start,
    Stop,
    fleet_step,
    measured_capacity,
    wanted_receivers,
)
from rheostat.protocols.receivers.receiver_moves import BALANCE_S

LIMITS = FleetLimits(least=1, most=6)


class Fleet:
    """A fleet whose receivers serve one tick after their start."""

    def __init__(self, executors: str, cores: int = 2) -> None:
        self.executors, self.cores = list(executors), cores
        self.leaving: set[str] = set()
        self.receivers: dict[int, str] = {}
        self.running: set[int] = set()
        self.rate: float | None = None
        self.memory: Memory = {}
        self.now = 0.0
        self.started = 0
        self.fewest = 99

    def tick(self, after_s: float = 1.0) -> list[object]:
        self.now += after_s
        facts = FleetFacts(
            executors=tuple(
                executor for executor in self.executors if executor not in self.leaving
            ),
            leaving=frozenset(self.leaving),
            cores=self.cores,
            receivers=dict(self.receivers),
            running=frozenset(self.running),
            rows_per_s=self.rate,
            capacity=100.0,
        )
        orders, self.memory = fleet_step(facts, LIMITS, self.memory, self.now)
        self.running |= self.receivers.keys()
        for order in orders:
            if isinstance(order, Start):
                self.receivers[self.started] = order.executor
                self.started += 1
            else:
                del self.receivers[order.receiver]
                self.running.discard(order.receiver)
        self.fewest = min(self.fewest, len(self.running))
        return list(orders)

    def settle(self) -> Fleet:
        for _ in range(6):
            self.tick()
        self.fewest = 99
        return self

    @property
    def counts(self) -> list[int]:
        held = Counter(self.receivers.values())
        return [held[executor] for executor in self.executors]


def test_a_fleet_starts_with_the_minimum():
    fleet = Fleet("ab")
    assert fleet.tick() == [Start("a")]
    assert fleet.tick() == []


def test_receivers_are_added_at_once_and_distributed():
    fleet = Fleet("abc").settle()
    fleet.rate = 200.0
    assert fleet.tick() == [Start("b"), Start("c")]


def test_receivers_are_removed_one_at_a_time_after_a_minute():
    fleet = Fleet("abc")
    fleet.rate = 200.0
    fleet.settle()
    assert fleet.counts == [1, 1, 1]
    fleet.rate = 10.0
    assert [fleet.tick(HOLD_S / 4) for _ in range(5)] == [[], [], [], [], [Stop(2)]]
    assert fleet.tick() == []


def test_rates_between_the_two_thresholds_change_nothing():
    fleet = Fleet("abc")
    fleet.rate = 139.0
    fleet.settle()
    assert len(fleet.receivers) == 2
    fleet.rate = 101.0
    assert [fleet.tick(HOLD_S) for _ in range(9)] == [[]] * 9


@pytest.mark.parametrize(("rate", "capacity"), [(None, 100.0), (900.0, None)])
def test_unknown_signals_change_nothing(rate, capacity):
    receivers = {0: "a", 1: "b"}
    facts = FleetFacts(
        executors=("a", "b"), cores=4, receivers=receivers, rows_per_s=rate, capacity=capacity
    )
    assert wanted_receivers(facts, 2, LIMITS, None, 0.0) == (2, None)


def test_one_core_is_reserved_for_the_batches():
    fleet = Fleet("ab", cores=2).settle()
    fleet.rate = 1e6
    fleet.settle()
    assert sum(fleet.counts) == 3


def test_the_demand_is_reported_even_if_the_cores_are_insufficient():
    facts = FleetFacts(
        executors=("a",), cores=2, receivers={0: "a"}, rows_per_s=220.0, capacity=100.0
    )
    _, memory = fleet_step(facts, LIMITS, {}, 0.0)
    assert (memory["demanded"], memory["wanted"]) == (4, 1)


def test_receivers_of_a_leaving_executor_are_replaced_before_they_stop():
    fleet = Fleet("abc")
    fleet.rate = 200.0
    fleet.settle()
    fleet.leaving = {"a"}
    assert fleet.tick() == [Start("b")]
    assert fleet.tick() == []
    assert fleet.tick() == [Stop(0)]
    assert fleet.fewest >= 3
    assert fleet.counts == [0, 2, 1]


def test_a_receiver_lost_with_its_executor_is_replaced_at_once():
    fleet = Fleet("abc")
    fleet.rate = 200.0
    fleet.settle()
    fleet.executors = ["b", "c"]
    assert fleet.tick() == [Stop(0), Start("b")]


def test_periodic_balancing_moves_one_receiver_and_keeps_their_number():
    fleet = Fleet("ab", cores=4)
    fleet.rate = 340.0
    fleet.settle()
    fleet.executors = ["a", "b", "c"]
    assert fleet.counts == [3, 2, 0]
    assert fleet.tick(BALANCE_S) == [Start("c")]
    assert fleet.counts == [3, 2, 1]
    fleet.settle()
    assert fleet.counts == [2, 2, 1]
    assert fleet.tick(BALANCE_S) == []


def test_the_capacity_is_measured_from_busy_receivers():
    samples = [(50.0, 0.5), (90.0, 1.0), (1.0, 0.01), (120.0, 1.2)]
    assert measured_capacity(samples) == 100.0
    assert measured_capacity([(1.0, 0.01)]) is None


@pytest.mark.parametrize(("least", "most"), [(0, 1), (3, 2), (True, 2), (1, 2.5)])
def test_invalid_limits_are_rejected(least, most):
    with pytest.raises(BadInput):
        FleetLimits(least=least, most=most)
