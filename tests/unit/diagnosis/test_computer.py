"""Each line about a computer states what is installed, or what is missing and the consequence."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from rheostat.diagnosis import computer
from rheostat.diagnosis.computer import machine_findings
from rheostat.errors import BadInput
from rheostat.local.spark_home import SparkHome
from rheostat.machine.ivy import MARKER
from rheostat.machine.jdk import Jdk
from rheostat.model import Finding


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A computer with a JDK, PySpark and an empty cache."""
    jdk = Jdk(tmp_path / "jdk", 17, True)
    monkeypatch.setattr(computer, "find_jdk", lambda: jdk)
    home = SparkHome(tmp_path / "spark", "4.0.1", "2.13", jdk)
    monkeypatch.setattr(computer, "find_spark_home", lambda: home)
    monkeypatch.setattr(computer, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path


def found() -> dict[str, Finding]:
    return {each.topic: each for each in machine_findings()}


def test_a_jdk_and_spark_are_said_with_their_versions(whole: Path) -> None:
    seen = found()
    assert (seen["Java"].state, seen["Java"].line) == ("good", f"JDK 17 in {whole}/jdk")
    assert (seen["Spark"].state, seen["Spark"].line) == ("good", "PySpark 4.0.1, Scala 2.13")


def test_a_jre_is_idle_because_no_archive_can_be_trained(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computer, "find_jdk", lambda: Jdk(whole / "jre", 21, False))
    java = found()["Java"]
    assert java.state == "idle"
    assert "is a JRE 21: without jcmd no class archive can be created" in java.line


def test_what_is_missing_is_one_idle_line_and_the_rest_is_said_all_the_same(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> None:
        raise BadInput("pyspark is not installed")

    monkeypatch.setattr(computer, "find_spark_home", none)
    seen = found()
    assert {seen[topic].line for topic in ("Spark", "Kafka source")} == {"pyspark is not installed"}
    assert [seen[topic].state for topic in ("Java", "Spark", "Kafka source")] == [
        "good",
        "idle",
        "idle",
    ]


def test_jars_in_the_cache_are_seen_only_when_all_are_there(whole: Path) -> None:
    folder = whole / "cache" / "source-4.0.1"
    assert found()["Kafka source"].state == "idle"
    folder.mkdir(parents=True)
    (folder / "one.jar").write_bytes(b"")
    (folder / MARKER).write_text('["one.jar", "two.jar"]')
    assert found()["Kafka source"].state == "idle"
    (folder / "two.jar").write_bytes(b"")
    assert found()["Kafka source"].state == "good"


def test_a_package_that_is_not_installed_says_what_goes_without_it(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    lines = {name: each.line for name, each in found().items() if each.state == "idle"}
    assert lines["scipy"] == "scipy is not installed: simulations cannot be fitted"
    assert "known only after each batch" in lines["confluent-kafka"]
