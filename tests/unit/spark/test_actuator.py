from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rheostat.model import Capabilities, Decision, Rescaling
from rheostat.spark.actuator import Adviser, SparkActuator

ABLE = Capabilities(can_scale=True)


class Cluster:
    """An application's executors in memory: ``arrive`` lets the cluster serve what was asked for, ``leave`` those that were told to go."""

    def __init__(self, *executors: str, room: int = 99) -> None:
        self.executors = list(executors)
        self.room = room
        self.total = len(executors)
        self.hidden: list[str] = []
        self.decommissioned: list[str] = []
        self.killed: list[str] = []
        self.busy: set[str] = set()
        self.calls: list[str] = []
        self._born = len(executors)

    def executor_ids(self) -> list[str]:
        return list(self.executors)

    def request_total(self, executors: int) -> bool:
        self.calls.append(f"total {executors}")
        self.total = executors
        return True

    def hide(self, executors: list[str]) -> bool:
        self.calls.append(f"hide {','.join(executors)}")
        self.hidden += executors
        return True

    def decommission(self, executors: list[str]) -> None:
        self.calls.append(f"decommission {','.join(executors)}")
        self.decommissioned += executors

    def kill_idle(self, executors: list[str]) -> None:
        self.calls.append(f"kill {','.join(executors)}")
        self.killed += [executor for executor in executors if executor not in self.busy]

    def arrive(self, count: int = 99) -> None:
        for _ in range(min(count, self.room, self.total - len(self.executors))):
            self.executors.append(str(self._born))
            self._born += 1

    def leave(self) -> None:
        self.executors = [each for each in self.executors if each not in self.decommissioned and each not in self.killed]


def ask(actuator: SparkActuator, target: int) -> Rescaling:
    return actuator.rescale(Decision(target=target, reason="test"), 0.0)


def test_growing_waits_for_what_is_missing_and_then_is_steady():
    cluster = Cluster("0")
    actuator = SparkActuator(cluster, ABLE, graceful=True)
    assert ask(actuator, 8) == Rescaling(phase="growing", detail="waiting for 7 of 8 executors")
    cluster.arrive(4)
    assert ask(actuator, 8) == Rescaling(phase="growing", detail="waiting for 3 of 8 executors")
    cluster.arrive()
    assert ask(actuator, 8) == Rescaling(phase="steady")
    assert actuator.target == 8


def test_the_target_is_asserted_again_at_every_tick():
    cluster = Cluster("0", "1")
    actuator = SparkActuator(cluster, ABLE, graceful=True)
    for _ in range(3):
        ask(actuator, 2)
    assert cluster.calls == ["total 2"] * 3


def test_the_youngest_are_hidden_first_and_asked_to_leave_one_tick_later():
    cluster = Cluster("0", "1", "2", "3")
    actuator = SparkActuator(cluster, ABLE, graceful=True)
    assert ask(actuator, 2) == Rescaling(phase="shrinking", detail="executors 2, 3 are leaving")
    assert (cluster.hidden, cluster.decommissioned) == (["2", "3"], [])
    ask(actuator, 2)
    ask(actuator, 2)
    assert cluster.calls == ["total 2", "hide 2,3", "decommission 2,3", "total 2", "total 2"]
    cluster.leave()
    assert ask(actuator, 2) == Rescaling(phase="steady")
    assert cluster.executors == ["0", "1"]


def test_an_executor_that_dies_is_waited_for_again():
    cluster = Cluster("0", "1", "2")
    actuator = SparkActuator(cluster, ABLE, graceful=True)
    ask(actuator, 3)
    cluster.executors.remove("1")
    assert ask(actuator, 3).detail == "waiting for 1 of 3 executors"
    cluster.arrive()
    assert ask(actuator, 3).phase == "steady"
    assert cluster.decommissioned == []


def test_one_that_dies_on_its_way_out_is_forgotten():
    cluster = Cluster("0", "1", "2")
    actuator = SparkActuator(cluster, ABLE, graceful=True)
    ask(actuator, 2)
    cluster.executors.remove("2")
    assert ask(actuator, 2).phase == "steady"
    assert cluster.decommissioned == []


def test_a_higher_target_in_between_replaces_those_that_are_leaving():
    cluster = Cluster("0", "1", "2", "3")
    actuator = SparkActuator(cluster, ABLE, graceful=True)
    ask(actuator, 2)
    assert ask(actuator, 4).detail == "waiting for 2 of 4 executors"
    cluster.leave()
    cluster.arrive()
    assert ask(actuator, 4).phase == "steady"
    assert cluster.executors == ["0", "1", "4", "5"]


def test_a_lower_target_in_between_adds_to_those_that_are_leaving():
    cluster = Cluster("0", "1", "2", "3")
    actuator = SparkActuator(cluster, ABLE, graceful=True)
    ask(actuator, 3)
    assert ask(actuator, 1).detail == "executors 1, 2, 3 are leaving"
    assert (cluster.hidden, cluster.decommissioned) == (["3", "1", "2"], ["3"])


def test_without_decommissioning_only_idle_executors_are_ended_and_the_busy_ones_are_tried_again():
    cluster = Cluster("0", "1", "2")
    cluster.busy = {"2"}
    actuator = SparkActuator(cluster, ABLE, graceful=False)
    for _ in range(2):
        ask(actuator, 1)
    cluster.leave()
    assert cluster.executors == ["0", "2"]
    assert ask(actuator, 1).detail == "executors 2 are leaving"
    cluster.busy.clear()
    ask(actuator, 1)
    cluster.leave()
    assert ask(actuator, 1).phase == "steady"
    assert cluster.decommissioned == []


@given(st.lists(st.tuples(st.integers(1, 8), st.booleans(), st.booleans()), max_size=25), st.booleans())
def test_whatever_happens_in_between_it_comes_to_the_last_target(ticks, graceful):
    cluster = Cluster("0")
    actuator = SparkActuator(cluster, ABLE, graceful=graceful)
    for target, arrives, leaves in ticks:
        asked = set(cluster.decommissioned) | set(cluster.killed)
        assert len(cluster.executors) - len(asked.intersection(cluster.executors)) >= 1
        ask(actuator, target)
        assert cluster.total == target
        if arrives:
            cluster.arrive(1)
        if leaves:
            cluster.leave()
    for _ in range(4):
        ask(actuator, 5)
        cluster.leave()
        cluster.arrive()
    assert ask(actuator, 5).phase == "steady"
    assert len(cluster.executors) == 5


def test_an_adviser_changes_nothing_and_says_what_it_would():
    adviser = Adviser(Capabilities(can_scale=False, cannot=("shadow mode",)))
    assert adviser.rescale(Decision(target=4, reason="test"), 0.0) == Rescaling(phase="advised", detail="4 executors would do")
    assert (adviser.target, adviser.capabilities().cannot) == (None, ("shadow mode",))
