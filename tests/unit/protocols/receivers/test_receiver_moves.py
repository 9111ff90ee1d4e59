from __future__ import annotations

from collections import Counter

import pytest

from rheostat.capacity.receiver_cores import executors_holding
from rheostat.model import Memory
from rheostat.protocols.orders import Decommission, Kill, Request
from rheostat.protocols.receivers.receiver_moves import (
    BALANCE_S,
    LEAVE_S,
    MOVE_S,
    Move,
    ReceiverFacts,
    step,
)


class App:
    """An application that executes every request at once."""

    def __init__(self, counts: list[int], cores: int = 4, moves: bool = True) -> None:
        self.executors = [str(n) for n in range(len(counts))]
        where = [str(n) for n, count in enumerate(counts) for _ in range(count)]
        self.receivers: dict[int, str | None] = dict(enumerate(where))
        self.cores, self.moves = cores, moves
        self.memory: Memory = {}
        self.now = 0.0
        self.detail = ""
        self.phase = ""

    def tick(self, target: int | None, after_s: float = 5.0) -> list[object]:
        self.now += after_s
        facts = ReceiverFacts(
            executors=tuple(self.executors),
            receivers=dict(self.receivers),
            cores=self.cores,
            moves=self.moves,
        )
        orders, rescaling = step(facts, target, self.memory, self.now)
        self.memory, self.phase, self.detail = rescaling.memory, rescaling.phase, rescaling.detail
        for order in orders:
            self._obey(order)
        return list(orders)

    def _obey(self, order: object) -> None:
        if isinstance(order, Request):
            while len(self.executors) - len(self.memory["leaving"]) < order.total:
                self.executors.append(str(int(self.executors[-1]) + 1))
        elif isinstance(order, Move):
            self.receivers[order.receiver] = order.executor
        elif isinstance(order, Decommission | Kill):
            for executor in order.executors:
                self.executors.remove(executor)

    @property
    def counts(self) -> list[int]:
        held = Counter(self.receivers.values())
        return [held[executor] for executor in self.executors]


def test_the_documented_example_scales_in_and_out_again():
    app = App([1, 1, 1, 1, 1])
    for _ in range(20):
        app.tick(1)
    assert sorted(app.counts, reverse=True) == [3, 2]
    assert app.detail == "5 receivers need 6 cores: 2 executors of 4, not 1"
    app.tick(3)
    assert sorted(app.counts, reverse=True) == [3, 2, 0]
    app.tick(3, BALANCE_S)
    assert sorted(app.counts, reverse=True) == [2, 2, 1]
    for _ in range(5):
        assert not any(isinstance(order, Move) for order in app.tick(3, BALANCE_S))


def test_one_executor_leaves_at_a_time_and_its_receivers_move_in_the_same_step():
    app = App([1, 1, 1])
    orders = app.tick(1)
    assert orders == [Request(1), Decommission(("2",)), Move(2, "0")]


def test_the_target_is_requested_at_every_step():
    app = App([1, 1])
    assert [app.tick(2) for _ in range(3)] == [[Request(2)]] * 3


def test_an_undecided_size_is_not_requested_but_receivers_are_balanced():
    app = App([3, 2, 0])
    assert app.tick(None) == []
    assert app.tick(None, BALANCE_S) == [Move(0, "2")]


def test_the_youngest_executor_with_the_fewest_receivers_leaves():
    app = App([2, 0, 0, 1])
    assert Decommission(("2",)) in app.tick(3)


def test_without_moves_executors_with_receivers_stay():
    app = App([1, 0, 1], moves=False)
    for _ in range(9):
        app.tick(1, BALANCE_S)
    assert app.counts == [1, 1]
    assert app.detail == "each executor holds a receiver, and receivers stay where they are"


def test_no_executor_leaves_while_a_receiver_starts():
    app = App([1, 1, 0])
    app.receivers[1] = None
    assert app.tick(2) == [Request(2)]
    assert app.detail == "a receiver is starting: no executor leaves before it runs"


def test_a_receiver_that_does_not_start_is_moved_again():
    facts = ReceiverFacts(executors=("0", "1"), receivers={0: "1"}, cores=4)
    memory = {"leaving": {"1": 0.0}, "moving": {"0": ["0", 0.0]}, "balanced_s": 0.0}
    assert Move(0, "0") not in step(facts, 1, memory, MOVE_S - 1)[0]
    assert Move(0, "0") in step(facts, 1, memory, MOVE_S)[0]


def test_an_executor_that_does_not_leave_is_killed():
    facts = ReceiverFacts(executors=("0", "1"), receivers={0: "0"}, cores=4)
    orders, _ = step(facts, 1, {"leaving": {"1": 0.0}}, LEAVE_S)
    assert Kill(("1",)) in orders


def test_a_move_to_a_lost_executor_is_forgotten():
    facts = ReceiverFacts(executors=("0", "1"), receivers={0: None}, cores=4)
    _, rescaling = step(facts, 2, {"moving": {"0": ["7", 0.0]}}, 1.0)
    assert rescaling.memory["moving"] == {}


@pytest.mark.parametrize(
    ("receivers", "cores", "executors"), [(0, 4, 1), (5, 4, 2), (3, 4, 1), (4, 4, 2), (1, 1, 2)]
)
def test_receivers_leave_a_core_for_the_batches(receivers, cores, executors):
    assert executors_holding(receivers, cores) == executors
