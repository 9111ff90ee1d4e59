from __future__ import annotations

from typing import Any

from rheostat.protocols.executors.memory import Life
from rheostat.spark.resizing.executor_registry import ExecutorRegistry
from rheostat.spark.resizing.poll_thread import COUNT_S, IDLE_S, POLL_S


class Cluster:
    """Reachable executors, and others that are already registered."""

    def __init__(self, *executors: str, coming: int = 0) -> None:
        self.executors, self.coming, self.requests = list(executors), coming, 0

    def hosts(self) -> dict[str, str]:
        self.requests += 1
        return {executor: f"host-{executor}" for executor in self.executors}

    def registered(self) -> int:
        return len(self.executors) + self.coming


def counted_registry(cluster: Any, round_number: int | None = 0) -> ExecutorRegistry:
    registry = ExecutorRegistry(cluster)
    assert registry.count(round_number, "steady", busy=False, now=0.0)
    return registry


def test_a_count_reports_whether_executors_changed():
    cluster = Cluster("1", "2")
    registry = counted_registry(cluster)
    assert not registry.count(0, "steady", busy=False, now=1.0)
    cluster.executors = ["2", "3"]
    assert registry.count(0, "steady", busy=False, now=2.0)
    assert registry.hosts == {"2": "host-2", "3": "host-3"}


def test_pending_executors_are_counted_before_hosts_are_requested():
    cluster = Cluster("1")
    registry = counted_registry(cluster)
    assert not registry.count(0, "growing", busy=True, now=COUNT_S)
    assert cluster.requests == 1
    cluster.executors.append("2")
    assert not registry.count(0, "growing", busy=True, now=1.5 * COUNT_S), "not at every poll"
    assert registry.count(0, "growing", busy=True, now=2 * COUNT_S)
    assert (cluster.requests, list(registry.hosts)) == (2, ["1", "2"])


def test_hosts_are_requested_at_least_once_a_second():
    cluster = Cluster("1")
    registry = counted_registry(cluster)
    cluster.executors = ["2"]
    assert not registry.count(0, "growing", busy=False, now=IDLE_S / 2)
    assert registry.count(0, "growing", busy=False, now=IDLE_S)


def test_without_pending_executors_hosts_are_requested_once_a_second():
    cluster = Cluster("1")
    registry = counted_registry(cluster)
    for tenths in range(1, 21):
        registry.count(0, "shrinking", busy=True, now=tenths / 10)
    assert cluster.requests == 1 + 2 / IDLE_S


def test_pending_executors_are_counted_at_every_poll():
    cluster = Cluster("1", coming=1)
    registry = counted_registry(cluster)
    assert not registry.coming, "nobody is waited for"
    registry.count(0, "growing", busy=False, now=1.0)
    assert registry.coming
    registry.count(0, "growing", busy=True, now=1.0 + 2 * POLL_S)
    assert cluster.requests == 3


def test_an_executor_is_new_until_the_round_after_its_arrival():
    cluster = Cluster("1")
    registry = counted_registry(cluster, round_number=None)
    cluster.executors.append("2")
    registry.count(5, "growing", busy=False, now=1.0)
    assert [registry.newcomers(number) for number in (None, 5, 6)] == [set(), {"2"}, set()]


def test_an_executor_that_held_state_is_not_fresh():
    registry = counted_registry(Cluster("1", "2"))
    registry.note_holders(["1", None])
    registry.note_holders(["9"])
    assert registry.fresh == {"2"}


def test_arriving_executors_are_warming_or_unknown_and_held_no_state():
    registry = counted_registry(Cluster("1", "2", "3", "4"))
    registry.note_holders(["1", "3"])
    lives = {
        executor: Life(phase, 0.0)
        for executor, phase in {"1": "ready", "2": "warming", "3": "assigned"}.items()
    }
    assert registry.arriving(lives) == {"2", "4"}
    assert registry.arriving({}) == set()
