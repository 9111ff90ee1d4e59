# mypy: disallow-untyped-calls=False
import socket
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.config import ServeOptions
from rheostat.control.sizing import Sizing
from rheostat.errors import BadInput
from rheostat.guards import Bounds
from rheostat.model import Limits, Slo
from rheostat.policies.rules.fixed import Fixed
from rheostat.settings import settings_of
from rheostat.spark.agency import serve_driver, settings_with

HANDLE: Any = SimpleNamespace(watch=lambda _: None)
"""No test here serves the control API, which would need a real handle."""


class Session:
    @property
    def streams(self):
        return self


def test_an_empty_sizing_keeps_the_drivers_settings():
    settings = settings_of(policy="fixed", parameters={"executors": 4}, limits=(2, 5))
    directed = settings_with(settings, Sizing())
    assert directed.built_policy == Fixed(4)
    assert directed.built_guards[-1] == Bounds(Limits.between(2, 5), False)


def test_a_sizing_sets_policy_objective_and_limits():
    given = Sizing(policy="pid", slo=Slo(latency_s=3), limits=Limits.between(1, 3))
    directed = settings_with(settings_of(policy="fixed", parameters={"executors": 4}), given)
    assert type(directed.built_policy).__name__ == "Pid"
    assert directed.built_guards[-1] == Bounds(Limits.between(1, 3), False)


@pytest.mark.parametrize(
    ("text", "address"), [("8085", ("127.0.0.1", 8085)), ("0.0.0.0:0", ("0.0.0.0", 0))]
)
def test_the_control_api_binds_to_loopback_by_default(text, address):
    assert ServeOptions(serve=text).address == address


@pytest.mark.parametrize("text", ["x", "host:", "70000", "-1"])
def test_an_invalid_port_is_rejected(text):
    with pytest.raises(BadInput, match="must be a port"):
        ServeOptions(serve=text)


def test_scaling_continues_without_the_control_api_if_its_extra_is_missing(monkeypatch, caplog):
    for name in [
        name
        for name in sys.modules
        if name.startswith(("rheostat.control.", "rheostat.metrics.prometheus", "starlette"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert serve_driver(Session(), HANDLE, settings_of(serve=0)) is None
    (line,) = caplog.messages
    assert line.startswith("rheostat: scaling continues without the control API: the Python module")
    assert "starlette" in line
    assert "extra serve" in line


def test_scaling_continues_without_the_control_api_if_its_port_is_in_use(caplog):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert serve_driver(Session(), HANDLE, settings_of(serve=port)) is None
    (line,) = caplog.messages
    assert f"cannot listen on 127.0.0.1:{port}" in line
