from __future__ import annotations

from typing import Any

from rheostat.protocols.executors.memory import Life
from rheostat.spark.resizing.executor_registry import ExecutorRegistry
from rheostat.spark.resizing.poll_thread import COUNT_S, IDLE_S, POLL_S


class Cluster:
    """Reachable executors, and others that are already registered."""

    def __init__(self, *executors: str, coming: int = 0) -> None:
        self.executors, self.coming, self.asked = list(executors), coming, 0

    def hosts(self) -> dict[str, str]:
        self.asked += 1
        return {executor: f"host-{executor}" for executor in self.executors}

    def registered(self) -> int:
        return len(self.executors) + self.coming


def counted(cluster: Any, round_number: int | None = 0) -> ExecutorRegistry:
    census = ExecutorRegistry(cluster)
    assert census.count(round_number, "steady", busy=False, now=0.0)
    return census


def test_it_tells_whether_executors_have_come_or_gone():
    cluster = Cluster("1", "2")
    census = counted(cluster)
    assert not census.count(0, "steady", busy=False, now=1.0)
    cluster.executors = ["2", "3"]
    assert census.count(0, "steady", busy=False, now=2.0)
    assert census.hosts == {"2": "host-2", "3": "host-3"}


def test_while_executors_are_to_come_the_registered_are_counted_and_then_who_is_reached():
    cluster = Cluster("1")
    census = counted(cluster)
    assert not census.count(0, "growing", busy=True, now=COUNT_S)
    assert cluster.asked == 1
    cluster.executors.append("2")
    assert not census.count(0, "growing", busy=True, now=1.5 * COUNT_S), "not at every poll"
    assert census.count(0, "growing", busy=True, now=2 * COUNT_S)
    assert (cluster.asked, list(census.hosts)) == (2, ["1", "2"])


def test_who_is_reached_is_looked_at_once_a_second_all_the_same():
    cluster = Cluster("1")
    census = counted(cluster)
    cluster.executors = ["2"]
    assert not census.count(0, "growing", busy=False, now=IDLE_S / 2)
    assert census.count(0, "growing", busy=False, now=IDLE_S)


def test_where_none_is_to_come_and_a_boundary_is_waited_for_it_counts_once_a_second():
    cluster = Cluster("1")
    census = counted(cluster)
    for tenths in range(1, 21):
        census.count(0, "shrinking", busy=True, now=tenths / 10)
    assert cluster.asked == 1 + 2 / IDLE_S


def test_for_an_executor_that_is_coming_it_counts_at_every_poll():
    cluster = Cluster("1", coming=1)
    census = counted(cluster)
    assert not census.coming, "nobody is waited for"
    census.count(0, "growing", busy=False, now=1.0)
    assert census.coming
    census.count(0, "growing", busy=True, now=1.0 + 2 * POLL_S)
    assert cluster.asked == 3


def test_an_executor_is_a_newcomer_until_a_round_after_the_one_it_came_in():
    cluster = Cluster("1")
    census = counted(cluster, round_number=None)
    cluster.executors.append("2")
    census.count(5, "growing", busy=False, now=1.0)
    assert [census.newcomers(number) for number in (None, 5, 6)] == [set(), {"2"}, set()]


def test_an_executor_that_has_held_state_is_not_fresh_any_more():
    census = counted(Cluster("1", "2"))
    census.note_holders(["1", None])
    census.note_holders(["9"])
    assert census.fresh == {"2"}


def test_those_arrive_that_are_on_their_way_in_or_not_known_yet_and_held_no_state():
    census = counted(Cluster("1", "2", "3", "4"))
    census.note_holders(["1", "3"])
    lives = {
        executor: Life(phase, 0.0)
        for executor, phase in {"1": "ready", "2": "warming", "3": "assigned"}.items()
    }
    assert census.arriving(lives) == {"2", "4"}
    assert census.arriving({}) == set()
