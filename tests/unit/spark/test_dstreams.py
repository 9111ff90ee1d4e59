"""Both entry points with a StreamingContext, as far as they need no JVM."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import rheostat
from rheostat.errors import BadInput
from rheostat.spark import dstreams
from rheostat.spark.dstreams import OWN


class Conf(dict[str, str]):
    """The configuration of an application."""

    def getAll(self) -> list[tuple[str, str]]:  # noqa: N802  (Spark's name)
        return list(self.items())


class StreamingContext:
    """A context with the class name of ``pyspark.streaming``."""

    def __init__(self, **settings: str) -> None:
        self.sparkContext = SimpleNamespace(
            applicationId="app-of-streams",
            uiWebUrl=None,
            master="spark://h:1",
            getConf=lambda: Conf({name.replace("_", "."): text for name, text in settings.items()}),
        )


StreamingContext.__module__ = "pyspark.streaming.context"


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the check that asks the JVM whether a context runs."""
    monkeypatch.setattr(dstreams, "check", lambda _: None)


def test_a_streaming_context_never_releases_all_executors() -> None:
    with pytest.raises(BadInput, match=r"a StreamingContext runs continuously: use at least 1"):
        rheostat.attach(StreamingContext(), limits=(0, 4))


def test_a_streaming_context_is_observed_with_its_own_policy(running: None, tmp_path: Any) -> None:
    handle = rheostat.shadow(StreamingContext(), journal=tmp_path)
    handle.stop()
    limitations = "; ".join(handle.capabilities.cannot)
    assert "spark.ui.enabled is off" in limitations
    assert "pyspark.streaming is deprecated" in limitations
    assert not handle.capabilities.can_scale


def test_a_context_with_another_resource_manager_is_rejected(running: None) -> None:
    context = StreamingContext(**{OWN.replace(".", "_"): "true"})
    with pytest.raises(BadInput, match="only one can size this application"):
        rheostat.attach(context)


def test_a_session_is_not_a_streaming_context():
    assert dstreams.is_streaming_context(StreamingContext())
    assert not dstreams.is_streaming_context(SimpleNamespace())
