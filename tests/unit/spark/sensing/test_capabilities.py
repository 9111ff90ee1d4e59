from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.sensing import capabilities
from rheostat.spark.sensing.capabilities import (
    application_id,
    initial_executors,
    observation_obstacles,
    obstacles,
)


class Session:
    """A classic session: its master, its settings, and the address of its UI."""

    def __init__(
        self, master: str = "spark://host:7077", ui: str | None = "http://host:4040", **conf: str
    ) -> None:
        named = {"spark." + name.replace("_", "."): value for name, value in conf.items()}
        self.sparkContext: Any = SimpleNamespace(
            master=master, uiWebUrl=ui, applicationId="app-1", getConf=lambda: named
        )


CONNECT = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
FOREVER = {
    "dynamicAllocation_schedulerBacklogTimeout": "1000000s",
    "dynamicAllocation_executorIdleTimeout": "infinity",
}
ALLOCATES = {"dynamicAllocation_enabled": "true"}


def lines(session: Any) -> list[str]:
    result = obstacles(session)
    messages = [*result.blocking, *result.degrading]
    assert all("\n" not in line for line in messages)
    return messages


def test_a_cluster_that_can_decommission_has_no_obstacles():
    for enabled in ("true", "TRUE"):
        assert obstacles(Session(decommission_enabled=enabled)) == capabilities.Obstacles()


@pytest.mark.parametrize("master", ["local", "local[*]", "local[4]", "local[2,3]"])
def test_a_local_master_has_no_executors_to_scale(master):
    assert lines(Session(master)) == [
        f"master {master} has no executors to scale; use a cluster, or: rheostat run --local 8"
        " app.py"
    ]
    assert observation_obstacles(Session(master)) == (
        f"master {master} has no executors: batches are observed, but no size can be advised",
    )


def test_a_local_cluster_has_executors():
    assert lines(Session("local-cluster[2,1,1024]", decommission_enabled="true")) == []


def test_spark_connect_limits_are_reported_in_one_line():
    assert lines(CONNECT())[0].startswith("Spark Connect: ")
    assert observation_obstacles(CONNECT()) == (
        "Spark Connect shows no executors: batches are observed, but no size can be advised",
    )
    assert application_id(CONNECT()) == "connect"
    assert application_id(Session()) == "app-1"


@pytest.mark.parametrize(
    "finite",
    [
        {},
        {"dynamicAllocation_executorIdleTimeout": "5min"},
        {"dynamicAllocation_schedulerBacklogTimeout": "1s"},
    ],
)
def test_active_dynamic_allocation_is_a_conflict(finite):
    conf = {"dynamicAllocation_enabled": "true", **(FOREVER if finite else {}), **finite}
    (line,) = lines(Session(decommission_enabled="true", **conf))
    assert line.startswith("Spark's own dynamic allocation is in effect: not scaling against it")


@pytest.mark.parametrize(
    "forever",
    [
        FOREVER,
        dict.fromkeys(FOREVER, "12d"),
        dict.fromkeys(FOREVER, "24h"),
        dict.fromkeys(FOREVER, "86400"),
    ],
)
def test_inactive_dynamic_allocation_is_no_obstacle(forever):
    assert (
        lines(Session(decommission_enabled="true", dynamicAllocation_enabled="true", **forever))
        == []
    )


def test_scaling_in_is_slower_without_decommissioning():
    (line,) = lines(Session())
    assert line.startswith("spark.decommission.enabled is off")
    assert obstacles(Session()).blocking == ()


def test_public_interfaces_show_no_executors_without_a_ui():
    assert lines(Session(ui=None, decommission_enabled="true")) == []
    (advice,) = observation_obstacles(Session(ui=None))
    assert advice.startswith("spark.ui.enabled is off, so the executors cannot be counted")


def test_a_cluster_with_a_ui_allows_every_observation():
    assert observation_obstacles(Session()) == ()


@pytest.mark.parametrize(
    ("master", "conf", "executors"),
    [
        ("spark://host:7077", {"executor_instances": "3"}, None),
        ("spark://host:7077", ALLOCATES | {"executor_instances": "3"}, 3),
        ("spark://host:7077", ALLOCATES | {"dynamicAllocation_initialExecutors": "2"}, 2),
        ("spark://host:7077", ALLOCATES | {"dynamicAllocation_minExecutors": "4"}, 4),
        ("spark://host:7077", ALLOCATES, None),
        ("yarn", {"executor_instances": "3"}, 3),
        ("yarn", {"executor_instances": "many"}, 2),
        ("yarn", {"executor_instances": "3", "dynamicAllocation_initialExecutors": "9"}, 3),
        ("k8s://host:443", {"executor_instances": "0"}, 2),
    ],
)
def test_the_initial_request_depends_on_master_and_settings(master, conf, executors):
    assert initial_executors(Session(master, **conf)) == executors
