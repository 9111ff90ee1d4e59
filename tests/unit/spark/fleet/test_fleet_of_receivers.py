from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.protocols.receivers.fleet_size import FleetLimits
from rheostat.spark.fleet.directory import Directory
from rheostat.spark.fleet.fleet import UP_S, Fleet
from rheostat.spark.fleet.receive_into import check
from rheostat.spark.fleet.receiving import ReceiverTask

HERE = "127.0.0.1"
TASK = ReceiverTask(
    number=0, directory=(HERE, 1), protocol="http", bind=HERE, host=HERE, topic="push", kafka={}
)


class App:
    """Executors with a receiver each until it is stopped; each reports ``rows``."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.executors = ["0", "1"]
        self.requested_to_leave: set[str] = set()
        self.alive: dict[int, str] = {}
        self.deaf = False
        self.rows, self.at_s = 0, 0.0

    def hosts(self) -> dict[str, str]:
        return dict.fromkeys(self.executors, HERE)

    def leaving(self, executors: Any) -> set[str]:
        return self.requested_to_leave & set(executors)

    def run(self, executor: str, host: str, work: Callable[[], None]) -> None:
        assert isinstance(work, partial)
        number = work.args[0].number
        self.alive[number] = executor
        while self.alive.get(number) and (self.deaf or self._beat(number, executor)):
            time.sleep(0.005)
        self.alive.pop(number, None)

    def _beat(self, number: int, executor: str) -> bool:
        report = {"address": f"{HERE}:{number}", "executor": executor, "at_s": self.at_s}
        return self.directory.record_report(
            number, {**report, "rows": self.rows, "busy_s": self.at_s}
        )


@pytest.fixture
def app() -> App:
    return App(Directory(HERE, time.time))


@pytest.fixture
def fleet(app: App) -> Iterator[Fleet]:
    limits = FleetLimits(least=2, most=4)
    executors: Any = app
    fleet = Fleet(executors, app.run, TASK, limits, 2, app.directory, lambda: False)
    app.directory.start()
    yield fleet
    fleet.stop()
    assert app.alive == {}


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def wait_until_served(app: App, fleet: Fleet, now: float) -> None:
    fleet.poll(now)
    wait_until(lambda: len(app.directory.addresses()) == 2)
    fleet.poll(now + 1)


def test_a_fleet_starts_the_minimum_and_reports_the_addresses(app, fleet):
    now = time.time()
    wait_until_served(app, fleet, now)
    assert fleet.state.by_executor == {"0": 1, "1": 1}
    assert fleet.state.receivers == fleet.state.wanted == 2
    assert sorted(fleet.addresses()) == [f"{HERE}:0", f"{HERE}:1"]


def test_a_dead_receiver_is_restarted(app, fleet):
    now = time.time()
    wait_until_served(app, fleet, now)
    app.alive[0] = ""
    wait_until(lambda: len(app.directory.addresses()) == 1)
    wait_until(lambda: 0 not in app.alive)
    fleet.poll(now + 2)
    wait_until(lambda: sorted(app.alive) == [1, 2])


def test_a_receiver_of_a_leaving_executor_stops_once_its_successor_serves(app, fleet):
    now = time.time()
    app.executors = ["0", "1", "2"]
    wait_until_served(app, fleet, now)
    app.requested_to_leave = {"1"}
    fleet.poll(now + 2)
    wait_until(lambda: f"{HERE}:2" in app.directory.addresses())
    assert sorted(app.alive) == [0, 1, 2]
    fleet.poll(now + 3)
    fleet.poll(now + 4)
    wait_until(lambda: sorted(app.alive.values()) == ["0", "2"])


def test_a_receiver_that_never_reports_is_abandoned(app, fleet):
    app.deaf = True
    now = time.time()
    fleet.poll(now)
    wait_until(lambda: len(app.alive) == 2)
    fleet.poll(now + UP_S + 1)
    wait_until(lambda: len(app.alive) == 4)
    app.deaf = False


def test_a_higher_load_starts_more_receivers(app, fleet):
    now = time.time()
    wait_until_served(app, fleet, now)
    for second in range(2, 8):
        app.rows, app.at_s = 100 * second, float(second)
        wait_until(lambda: all(beat.at_s == app.at_s for beat in app.directory.beats().values()))
        fleet.poll(now + second)
        if len(app.alive) > 2:
            break
    wait_until(lambda: len(app.alive) == 3)
    assert fleet.state.capacity == pytest.approx(100.0)


def test_an_unexpected_receiver_is_dismissed():
    directory = Directory(HERE, time.time)
    report = {"address": "a:1", "executor": None, "rows": 0, "busy_s": 0.0, "at_s": 0.0}
    assert not directory.record_report(7, report)
    assert directory.addresses() == []
    directory._server.server_close()


def session(**has: Any) -> Any:
    context = SimpleNamespace(applicationId="app-1", master=has.pop("master", "spark://h:1"))
    return SimpleNamespace(streams=None, sparkContext=context)


@pytest.mark.parametrize(
    ("spark", "changes", "message"),
    [
        (object(), {}, "a SparkSession is needed"),
        (session(master="local[2]"), {}, "has no executors for receivers"),
        (session(), {"protocol": "smtp"}, "protocol must be http or socket, but it is 'smtp'"),
        (session(), {"topic": ""}, "topic must be a name"),
        (session(), {"rows_per_s": -1.0}, "rows_per_s must be at least 0, but it is -1.0"),
    ],
)
def test_invalid_fleet_parameters_are_rejected(spark, changes, message):
    arguments = {"protocol": "http", "rows_per_s": 0.0, "topic": "push", **changes}
    with pytest.raises(BadInput, match=message):
        check(spark, **arguments)
