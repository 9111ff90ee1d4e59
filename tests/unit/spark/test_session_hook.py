"""The hooks around the applications of a script, with fakes for PySpark's classes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from rheostat.errors import BadInput, RheostatError
from rheostat.spark.launching import SessionHook


class Session:
    """A session of an application."""

    def __init__(self, application: str) -> None:
        self.sparkContext = self
        self.applicationId = application


class RecordingRun:
    """Applies given settings, and records the calls."""

    def __init__(self, added: Mapping[str, str] | None = None) -> None:
        self.added = dict(added or {})
        self.own: list[Mapping[str, str]] = []
        self.notes: list[str] = []

    def settings(self, own: Mapping[str, str]) -> Mapping[str, str]:
        self.own.append(own)
        return self.added

    def session(self, spark: Any) -> Any:
        self.notes.append(f"attached {spark.applicationId}")
        return Stopping(self.notes, spark.applicationId)


class Stopping:
    def __init__(self, notes: list[str], name: str) -> None:
        self.notes, self.name = notes, name

    def stop(self) -> None:
        self.notes.append(f"stopped {self.name}")


@pytest.fixture
def contexts(monkeypatch: pytest.MonkeyPatch) -> list[SparkConf | None]:
    """Prevent contexts and sessions from starting; return the settings of each context."""
    configurations: list[SparkConf | None] = []

    def begin(
        self: Any,
        master: Any = None,
        conf: Any = None,
        gateway: Any = None,
        jsc: Any = None,
    ) -> None:
        configurations.append(conf)

    def session(self: Any, context: Any, jsession: Any = None) -> None:
        self._sc = Session(context)

    monkeypatch.setattr(SparkContext, "__init__", begin)
    monkeypatch.setattr(SparkContext, "_jvm", None)  # a JVM's properties would be settings
    monkeypatch.setattr(SparkSession, "__init__", session)
    monkeypatch.setattr(SparkSession, "sparkContext", property(lambda self: self._sc))
    monkeypatch.setattr(
        SparkSession, "applicationId", property(lambda self: self._sc.applicationId), raising=False
    )
    return configurations


def builds(monkeypatch: pytest.MonkeyPatch, *sessions: Session) -> None:
    """Make ``getOrCreate`` return the given sessions."""
    remaining = list(sessions)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", lambda _: remaining.pop(0))


def test_every_application_is_attached_once_and_its_predecessor_is_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    builds(monkeypatch, Session("a"), Session("a"), Session("b"))
    recording = RecordingRun()
    with SessionHook(recording).installed():
        for _ in range(3):
            SparkSession.builder.getOrCreate()
    assert recording.notes == ["attached a", "stopped a", "attached b", "stopped b"]


def test_a_session_without_a_builder_is_attached(contexts: list[Any]) -> None:
    recording = RecordingRun()
    with SessionHook(recording).installed():
        SparkSession("a")
        SparkSession("a")
    assert recording.notes == ["attached a", "stopped a"]


def test_settings_are_added_to_those_of_the_script(contexts: list[Any]) -> None:
    recording = RecordingRun({"spark.cores.max": "8"})
    conf = SparkConf().set("spark.executor.cores", "2")
    with SessionHook(recording).installed():
        SparkContext("spark://a:1", conf=conf)
    assert recording.own == [{"spark.executor.cores": "2", "spark.master": "spark://a:1"}]
    assert dict(contexts[0].getAll()) == {"spark.executor.cores": "2", "spark.cores.max": "8"}
    assert dict(conf.getAll()) == {"spark.executor.cores": "2"}


def test_settings_of_the_previous_application_are_not_the_scripts_own(
    contexts: list[Any],
) -> None:
    recording = RecordingRun({"spark.cores.max": "8"})
    with SessionHook(recording).installed():
        SparkContext()
        recording.added = {"spark.cores.max": "16"}
        stored = SparkConf().set("spark.cores.max", "8")  # as its JVM has stored it
        SparkContext(conf=stored.set("spark.executor.cores", "2"))
    assert recording.own == [{}, {"spark.executor.cores": "2"}]
    assert contexts[1].get("spark.cores.max") == "16"


def test_a_context_of_a_running_jvm_is_unchanged(contexts: list[Any]) -> None:
    recording = RecordingRun({"spark.cores.max": "8"})
    with SessionHook(recording).installed():
        SparkContext(gateway=object())
    assert (recording.own, contexts) == ([], [None])


def test_an_application_that_cannot_start_reports_the_reason(contexts: list[Any]) -> None:
    class Broken(RecordingRun):
        def settings(self, own: Mapping[str, str]) -> Mapping[str, str]:
            raise RheostatError("no cluster")

    hook = SessionHook(Broken())
    with hook.installed(), pytest.raises(RheostatError, match="no cluster") as raised:
        SparkContext()
    assert hook.fault is raised.value


def test_an_internal_error_leaves_the_job_unchanged(
    contexts: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    class Faulty(RecordingRun):
        def settings(self, own: Mapping[str, str]) -> Mapping[str, str]:
            raise ValueError("a fault of ours")

    with caplog.at_level(logging.WARNING, logger="rheostat"), SessionHook(Faulty()).installed():
        SparkContext(conf=SparkConf().set("spark.a", "b"))
    assert dict(contexts[0].getAll()) == {"spark.a": "b"}
    assert [message.count("no setting was added") for message in caplog.messages] == [1]


@pytest.mark.parametrize("fault", [BadInput("no such thing"), ValueError("a fault of ours")])
def test_a_session_that_cannot_be_attached_leaves_the_script_running(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Exception
) -> None:
    class Failing(RecordingRun):
        def session(self, spark: Any) -> Any:
            raise fault

    first = Session("a")
    builds(monkeypatch, first)
    with caplog.at_level(logging.WARNING, logger="rheostat"), SessionHook(Failing()).installed():
        assert SparkSession.builder.getOrCreate() is first
    (message,) = caplog.messages
    assert "not attached, the job keeps running" in message
    assert str(fault) in message


def test_pyspark_is_restored_afterwards() -> None:
    before = SparkContext.__init__, SparkSession.__init__, SparkSession.Builder.getOrCreate
    with SessionHook(RecordingRun()).installed():
        assert SparkContext.__init__ is not before[0]
    after = SparkContext.__init__, SparkSession.__init__, SparkSession.Builder.getOrCreate
    assert after == before
