from __future__ import annotations

from typing import Any

from rheostat.spark.resizing.locality import SourceHiding


class Cluster:
    """Executors that a source may prefer unless they are hidden."""

    def __init__(self, *executors: str, can: bool = True) -> None:
        self.shown, self.can = list(executors), can
        self.newcomers: list[bool] = []
        self.requests = 0

    def preferred(self) -> list[str]:
        self.requests += 1
        return list(self.shown)

    def hide(self, executors: list[str]) -> bool:
        if self.can:
            self.shown = [executor for executor in self.shown if executor not in executors]
        return self.can

    def hide_newcomers(self, hides: bool) -> bool:
        self.newcomers.append(hides)
        return self.can


def hiding(cluster: Any, works: bool = True) -> SourceHiding:
    return SourceHiding(cluster, works)


def test_cold_executors_are_hidden_first_and_the_others_once_none_is_cold():
    cluster = Cluster("1", "2", "3")
    source_hiding = hiding(cluster)
    source_hiding.hide({"3"}, {"1", "2", "3"})
    assert cluster.shown == ["1", "2"]
    source_hiding.hide(set(), {"1", "2", "3"})
    assert cluster.shown == []


def test_preferred_executors_are_read_again_only_after_a_change():
    cluster = Cluster("1", "2")
    source_hiding = hiding(cluster)
    for cold, executors in (("2", "12"), ("2", "12"), ("2", "123"), ("", "123"), ("", "123")):
        source_hiding.hide(set(cold), set(executors))
    assert cluster.requests == 3


def test_new_executors_are_hidden_until_the_end_with_one_request():
    cluster = Cluster()
    source_hiding = hiding(cluster)
    source_hiding.hide_newcomers()
    source_hiding.hide_newcomers()
    source_hiding.end()
    assert cluster.newcomers == [True, False]


def test_new_executors_that_cannot_be_hidden_need_no_reset():
    cluster = Cluster(can=False)
    source_hiding = hiding(cluster)
    source_hiding.hide_newcomers()
    source_hiding.end()
    assert cluster.newcomers == [True]


def test_hiding_stops_after_a_refusal():
    cluster = Cluster("1", can=False)
    source_hiding = hiding(cluster)
    source_hiding.hide({"1"}, {"1"})
    source_hiding.hide({"1"}, {"1"})
    assert not source_hiding.works
    assert cluster.requests == 1


def test_nothing_is_hidden_if_hiding_is_disabled():
    cluster = Cluster("1")
    source_hiding = hiding(cluster, works=False)
    source_hiding.hide_newcomers()
    source_hiding.hide({"1"}, {"1"})
    source_hiding.end()
    assert (cluster.shown, cluster.newcomers) == (["1"], [])
