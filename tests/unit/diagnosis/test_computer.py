"""Each line about a computer states what is installed, or what is missing and the consequence."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from rheostat.diagnosis import hosting
from rheostat.diagnosis.hosting import machine_findings
from rheostat.errors import BadInput
from rheostat.local.spark_home import SparkHome
from rheostat.machine.ivy import MARKER
from rheostat.machine.jdk import Jdk
from rheostat.model import Finding


@pytest.fixture
def complete_computer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A computer with a JDK, PySpark and an empty cache."""
    jdk = Jdk(tmp_path / "jdk", 17, True)
    monkeypatch.setattr(hosting, "find_jdk", lambda: jdk)
    home = SparkHome(tmp_path / "spark", "4.0.1", "2.13", jdk)
    monkeypatch.setattr(hosting, "find_spark_home", lambda: home)
    monkeypatch.setattr(hosting, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path


def findings_by_topic() -> dict[str, Finding]:
    return {finding.topic: finding for finding in machine_findings()}


def test_jdk_and_spark_are_reported_with_their_versions(complete_computer: Path) -> None:
    findings = findings_by_topic()
    assert (findings["Java"].state, findings["Java"].line) == (
        "good",
        f"JDK 17 in {complete_computer}/jdk",
    )
    assert (findings["Spark"].state, findings["Spark"].line) == (
        "good",
        "PySpark 4.0.1, Scala 2.13",
    )


def test_a_jre_is_idle_because_it_cannot_create_class_archives(
    complete_computer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "find_jdk", lambda: Jdk(complete_computer / "jre", 21, False))
    java = findings_by_topic()["Java"]
    assert java.state == "idle"
    assert "is a JRE 21: without jcmd no class archive can be created" in java.line


def test_a_missing_package_is_one_idle_line_and_the_rest_is_reported(
    complete_computer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> None:
        raise BadInput("pyspark is not installed")

    monkeypatch.setattr(hosting, "find_spark_home", none)
    findings = findings_by_topic()
    assert {findings[topic].line for topic in ("Spark", "Kafka source")} == {
        "pyspark is not installed"
    }
    assert [findings[topic].state for topic in ("Java", "Spark", "Kafka source")] == [
        "good",
        "idle",
        "idle",
    ]


def test_cached_jars_count_only_if_all_are_present(complete_computer: Path) -> None:
    folder = complete_computer / "cache" / "source-4.0.1"
    assert findings_by_topic()["Kafka source"].state == "idle"
    folder.mkdir(parents=True)
    (folder / "one.jar").write_bytes(b"")
    (folder / MARKER).write_text('["one.jar", "two.jar"]')
    assert findings_by_topic()["Kafka source"].state == "idle"
    (folder / "two.jar").write_bytes(b"")
    assert findings_by_topic()["Kafka source"].state == "good"


def test_a_missing_package_names_the_lost_feature(
    complete_computer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    lines = {
        name: finding.line
        for name, finding in findings_by_topic().items()
        if finding.state == "idle"
    }
    assert lines["scipy"] == "scipy is not installed: simulations cannot be fitted"
    assert "known only after each batch" in lines["confluent-kafka"]
