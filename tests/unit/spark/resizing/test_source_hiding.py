from __future__ import annotations

from typing import Any

from rheostat.spark.resizing.locality import SourceHiding


class Cluster:
    """Executors that a source may prefer unless they are hidden."""

    def __init__(self, *executors: str, can: bool = True) -> None:
        self.shown, self.can = list(executors), can
        self.newcomers: list[bool] = []
        self.asked = 0

    def preferred(self) -> list[str]:
        self.asked += 1
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


def test_cold_executors_are_hidden_first_and_the_others_when_none_is_cold():
    cluster = Cluster("1", "2", "3")
    one = hiding(cluster)
    one.hide({"3"}, {"1", "2", "3"})
    assert cluster.shown == ["1", "2"]
    one.hide(set(), {"1", "2", "3"})
    assert cluster.shown == []


def test_who_is_preferred_is_asked_again_only_when_executors_come_go_or_get_warm():
    cluster = Cluster("1", "2")
    one = hiding(cluster)
    for cold, there in (("2", "12"), ("2", "12"), ("2", "123"), ("", "123"), ("", "123")):
        one.hide(set(cold), set(there))
    assert cluster.asked == 3


def test_newcomers_are_hidden_until_the_end_and_that_is_asked_for_once():
    cluster = Cluster()
    one = hiding(cluster)
    one.hide_newcomers()
    one.hide_newcomers()
    one.end()
    assert cluster.newcomers == [True, False]


def test_where_newcomers_cannot_be_hidden_nothing_is_to_be_ended():
    cluster = Cluster(can=False)
    one = hiding(cluster)
    one.hide_newcomers()
    one.end()
    assert cluster.newcomers == [True]


def test_after_a_refusal_nothing_more_is_tried():
    cluster = Cluster("1", can=False)
    one = hiding(cluster)
    one.hide({"1"}, {"1"})
    one.hide({"1"}, {"1"})
    assert not one.works
    assert cluster.asked == 1


def test_where_none_may_be_hidden_nothing_is():
    cluster = Cluster("1")
    one = hiding(cluster, works=False)
    one.hide_newcomers()
    one.hide({"1"}, {"1"})
    one.end()
    assert (cluster.shown, cluster.newcomers) == (["1"], [])
