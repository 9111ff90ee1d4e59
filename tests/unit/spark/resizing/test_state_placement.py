from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rheostat.spark.resizing.state_placement import Placement
from rheostat.spark.sensing.state_stores import Operator
from rheostat.state.assignment import Unit

HOSTS = {"1": "host-a", "2": "host-b"}


class Places:
    """A coordinator that accepts every reported location."""

    def __init__(self) -> None:
        self.where: dict[tuple[str, str, int, int, str], str] = {}
        self.hosts: set[tuple[str, str]] = set()

    def store(self, state_folder, run_id, operator, partition, name):
        return (state_folder, run_id, operator, partition, name)

    def locations(self, stores):
        return [self.where.get(store) for store in stores]

    def report(self, store, host, executor):
        self.where[store] = executor
        self.hosts.add((host, executor))


def placement_of(places: Any, *rest: Any) -> Placement:
    return Placement(places, *rest)


def holders_of(placement: Placement) -> Mapping[Unit, str | None]:
    placement.poll()
    return placement.holders


def weights_of(placement: Placement) -> Mapping[Unit, float] | None:
    placement.weigh()
    return placement.weights


def join_and_window() -> tuple[Placement, Places]:
    places = Places()
    placement = placement_of(places)
    placement.learn(
        "run", "s3://c/state", (Operator(0, 2, ("default",)), Operator(1, 3, ("left", "right")))
    )
    return placement, places


def test_all_stores_of_a_partition_form_one_unit():
    placement, places = join_and_window()
    assert set(placement.units) == {("run", 0), ("run", 1), ("run", 2)}
    assert placement.assign({("run", 0): "1", ("run", 2): "2"}, HOSTS) == 2
    assert len(places.where) == 3 + 2
    assert holders_of(placement) == {("run", 0): "1", ("run", 1): None, ("run", 2): "2"}


def test_an_executor_is_reported_with_its_own_host():
    placement, places = join_and_window()
    placement.assign({("run", 0): "1", ("run", 1): "2"}, HOSTS)
    assert places.hosts == {("host-a", "1"), ("host-b", "2")}


def test_a_unit_with_scattered_stores_has_no_holder():
    placement, places = join_and_window()
    placement.assign({("run", 0): "1"}, HOSTS)
    places.where["s3://c/state", "run", 1, 0, "right"] = "2"
    assert holders_of(placement)["run", 0] is None


def test_lost_executors_and_ended_queries_are_ignored():
    placement, places = join_and_window()
    assert placement.assign({("run", 0): "7", ("ended", 0): "1"}, HOSTS) == 0
    assert places.where == {}


def test_a_restarted_query_has_no_placements():
    placement, _ = join_and_window()
    placement.assign({("run", 0): "1"}, HOSTS)
    placement.forget(["again"])
    assert not placement.units
    placement.learn("again", "s3://c/state", (Operator(0, 1, ("default",)),))
    assert holders_of(placement) == {("again", 0): None}


def test_a_unit_weighs_the_bytes_of_its_folders():
    held = {"c/state/0/0": 5, "c/state/1/0": 7, "c/state/0/1": 1, "c/state/1/2": 2}
    placement = placement_of(Places(), held.get)
    placement.learn(
        "run", "c/state", (Operator(0, 2, ("default",)), Operator(1, 3, ("left", "right")))
    )
    assert weights_of(placement) == {("run", 0): 12.0, ("run", 2): 2.0}
    placement.forget([])
    assert weights_of(placement) == {}


def test_weights_are_absent_if_bytes_cannot_be_read():
    placement, _ = join_and_window()
    assert weights_of(placement) is None
