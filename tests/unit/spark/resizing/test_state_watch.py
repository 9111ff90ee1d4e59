from __future__ import annotations

from typing import Any

from rheostat.spark.resizing.state_placement import PLACES_S, Placement
from rheostat.spark.sensing.state_stores import Operator


class World:
    """A query with two state partitions, and a coordinator that knows their executors."""

    def __init__(self) -> None:
        self.where: dict[tuple[str, int, str], str] = {}
        self.stateful = {"q"}

    def state(self, run_id: str) -> tuple[str, tuple[Operator, ...]] | None:
        return ("folder", (Operator(0, 2, ("a", "b")),)) if run_id in self.stateful else None

    def store(
        self, state_folder: str, run_id: str, operator: int, partition: int, name: str
    ) -> Any:
        return run_id, partition, name

    def locations(self, stores: Any) -> list[str | None]:
        return [self.where.get(store) for store in stores]

    def report(self, store: Any, host: str, executor: str) -> None:
        self.where[store] = executor


def watching(world: Any) -> Placement:
    watch = Placement(world)
    assert watch.update(world, ["q"])
    watch.assign({("q", 0): "1", ("q", 1): "1"}, {"1": "host"})
    watch.poll()
    assert watch.holders == {("q", 0): "1", ("q", 1): "1"}
    return watch


def test_stores_of_a_run_are_learned_once_and_forgotten_with_it():
    world: Any = World()
    watch = watching(world)
    assert not watch.update(world, ["q", "stateless"])
    assert watch.runs == {"q"}
    world.stateful = {"again"}
    assert watch.update(world, ["again"])
    assert watch.runs == {"again"}


def test_a_changed_holder_is_reported_once():
    world = World()
    watch = watching(world)
    assert not watch.poll()
    world.where["q", 1, "a"] = "2"
    assert [watch.poll(), watch.poll()] == [True, False]
    assert watch.holders["q", 1] is None


def test_without_placement_there_is_no_state():
    world: Any = World()
    watch = Placement(world, places=False)
    assert not watch.update(world, ["q"])
    watch.weigh()
    watch.assign({("q", 0): "1"}, {"1": "host"})
    assert not watch.poll()
    assert (watch.places, watch.ranges, watch.holders, watch.weights) == (False, False, {}, None)
    assert not watch.units


def test_placements_are_recorded_after_a_change_and_once_an_hour():
    world = World()
    watch = watching(world)
    assert watch.places_to_record(0.0) == {"q": {"1": "0-1"}}
    assert watch.places_to_record(PLACES_S - 1) == {}
    assert watch.places_to_record(PLACES_S) == {"q": {"1": "0-1"}}
    watch.assign({("q", 1): "2"}, {"2": "host"})
    watch.poll()
    assert watch.places_to_record(PLACES_S + 1) == {"q": {"1": "0", "2": "1"}}
    unplaced: Any = World()
    assert Placement(unplaced, places=False).places_to_record(PLACES_S) == {}
