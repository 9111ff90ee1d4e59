"""How to recognise a Spark Connect server, and the queries of all its clients."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.clusters.scaling_settings import Given
from rheostat.errors import BadInput
from rheostat.local.app_run import Request, plan
from rheostat.settings import Settings
from rheostat.spark.connect_server import PLUGIN, SCRIPT, Address
from rheostat.spark.internals.stream_executions import EverySession


def test_an_address_is_a_loopback_port_or_host_and_port() -> None:
    assert Address.of("15002") == Address("127.0.0.1", 15002)
    assert Address.of("0.0.0.0:7") == Address("0.0.0.0", 7)
    for wrong in ("", "0", "host", "host:", "1.5", "70000"):
        with pytest.raises(BadInput, match="must be a port or HOST:PORT"):
            Address.of(wrong)


def test_sparks_connect_plugin_is_added_to_the_users_plugins() -> None:
    origins = {
        "spark.plugins": Given("their.Own", "a file"),
        "spark.master": Given("spark://h:1", "a file"),
    }
    request = Request(script=SCRIPT, settings=Settings(), given=origins, connect=Address(port=7))
    result = plan(request, {}).settings
    assert result["spark.plugins"] == f"{PLUGIN},their.Own"
    assert result["spark.connect.grpc.binding.address"] == "127.0.0.1"
    assert result["spark.connect.grpc.binding.port"] == "7"
    assert Path(SCRIPT).is_file()


class Session:
    """A session with its own query; ``shared`` are those of all sessions."""

    def __init__(self, shared: list[str] | None) -> None:
        self._shared = shared
        self.version = "4.3.0"
        self.streams = SimpleNamespace(active=["own"])
        package = SimpleNamespace(
            runtime=SimpleNamespace(StreamingQueryWrapper=lambda query: f"wrapped {query}")
        )
        jvm = SimpleNamespace(
            java=SimpleNamespace(util=SimpleNamespace(ArrayList=list)),
            org=SimpleNamespace(
                apache=SimpleNamespace(
                    spark=SimpleNamespace(
                        sql=SimpleNamespace(execution=SimpleNamespace(streaming=package))
                    )
                )
            ),
        )
        self.sparkContext = SimpleNamespace(_jvm=jvm)

    @property
    def _jsparkSession(self) -> Any:  # noqa: N802
        if self._shared is None:
            raise AttributeError("sharedState")
        shared = dict(enumerate(self._shared))
        state = SimpleNamespace(activeStreamingQueries=lambda: shared)
        return SimpleNamespace(sharedState=lambda: state)


def test_queries_of_all_sessions_are_visible() -> None:
    all_sessions = EverySession(Session(["one", "two"]))
    assert [query._jsq for query in all_sessions.streams.active] == ["wrapped one", "wrapped two"]
    assert all_sessions.version == "4.3.0"
    assert "streams" in dir(all_sessions)


def test_a_session_lists_its_own_queries_if_spark_does_not_share_them() -> None:
    assert EverySession(Session(None)).streams.active == ["own"]
