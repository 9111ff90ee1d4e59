"""Executors of the simulated application are all accounted for, for any requests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rheostat.sim.arrivals import Arrivals
from rheostat.sim.bookkeeping import Book
from rheostat.sim.engine import Events
from rheostat.sim.noise import Noise, streams
from rheostat.sim.spark.spark_fleet import Fleet
from rheostat.sim.workload import Constant
from rheostat_lab.sweep.plant_parameters import spark_parameters

PARAMETERS = spark_parameters({"executors": 3, "start_noise": 0.0})


def fleet_of() -> tuple[Fleet, Events, list[float]]:
    events, arrivals = Events(), list[float]()
    book = Book(Arrivals(Constant(1.0)), 3)
    noise = Noise(streams(1, 1)[0], 0.0)
    return Fleet(PARAMETERS, events, book, noise, arrivals.append), events, arrivals


def test_an_executor_registers_its_start_time_after_the_request() -> None:
    fleet, events, arrivals = fleet_of()
    assert fleet.aim(4, 0.0).phase == "growing"
    events.run(PARAMETERS.start_s - 0.1)
    assert arrivals == []
    events.run(PARAMETERS.start_s + 0.1)
    assert arrivals == [PARAMETERS.start_s]
    assert fleet.assert_target(events.now).phase == "steady"


def test_pending_executors_are_cancelled_before_working_ones_are_removed() -> None:
    fleet, events, arrivals = fleet_of()
    fleet.aim(5, 0.0)
    fleet.aim(3, 1.0)
    events.run(1_000.0)
    assert arrivals == []
    assert [executor.leaving for executor in fleet.executors] == [False] * 3


def test_the_youngest_executors_are_removed_first_and_lost_ones_are_replaced() -> None:
    fleet, events, arrivals = fleet_of()
    assert fleet.aim(2, 0.0).phase == "shrinking"
    assert [executor.leaving for executor in fleet.executors] == [False, False, True]
    fleet.release([fleet.executors[-1]], 0.0)
    fleet.lose(fleet.executors[0], 0.0)
    events.run(1_000.0)
    assert len(arrivals) == 1
    assert len(fleet.staying) == fleet.target == 2


@given(st.lists(st.tuples(st.integers(1, 9), st.floats(0.0, 90.0)), max_size=8))
def test_the_fleet_converges_to_the_last_target(requests: list[tuple[int, float]]) -> None:
    fleet, events, _ = fleet_of()
    now = 0.0
    for target, wait_s in requests:
        fleet.aim(target, now)
        fleet.release([executor for executor in fleet.executors if executor.leaving], now)
        now += wait_s
        events.run(now)
    fleet.assert_target(now)
    fleet.release([executor for executor in fleet.executors if executor.leaving], now)
    events.run(now + 10_000.0)
    assert len(fleet.executors) == fleet.target
    assert len({id(executor) for executor in fleet.executors}) == fleet.target


def test_slot_seconds_count_only_registered_slots() -> None:
    fleet, events, _ = fleet_of()
    fleet.aim(4, 0.0)
    events.run(PARAMETERS.start_s + 10.0)
    slots = PARAMETERS.slots_per_executor
    assert fleet.slot_s(events.now) == slots * (3 * (PARAMETERS.start_s + 10.0) + 10.0)
