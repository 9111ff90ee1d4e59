from __future__ import annotations

import json
from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.local.spark_home import SparkHome
from rheostat.machine.ivy import MARKER
from rheostat.machine.jdk import Jdk
from rheostat_lab.clusters.yarn import yarn_jars


def spark(folder: Path, *jars: str) -> SparkHome:
    (folder / "jars").mkdir(parents=True)
    for jar in jars:
        (folder / "jars" / jar).touch()
    return SparkHome(folder, "3.5.7", "2.12", Jdk(folder, 17, True))


def complete(home: SparkHome) -> None:
    folder = yarn_jars._folder(home)
    folder.mkdir(parents=True)
    (folder / "junit.jar").touch()
    (folder / MARKER).write_text(json.dumps(["junit.jar"]))


def test_a_cache_with_other_modules_is_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = spark(tmp_path / "spark", "hadoop-client-api-3.3.4.jar")
    with pytest.MonkeyPatch.context() as before:
        before.setattr(yarn_jars, "_MODULES", yarn_jars._MODULES[1:])
        complete(home)
        assert yarn_jars.are_cached(home)
    assert not yarn_jars.are_cached(home)
    complete(home)
    assert yarn_jars.are_cached(home)


def test_yarn_has_the_version_of_sparks_hadoop(tmp_path: Path) -> None:
    home = spark(tmp_path / "spark", "hadoop-client-api-3.3.4.jar")
    assert 'name="hadoop-client-minicluster" rev="3.3.4"' in yarn_jars._dependencies(home)
    with pytest.raises(BadInput, match="there is no Hadoop in"):
        yarn_jars.are_cached(spark(tmp_path / "without"))


def test_hadoop_3_4_gets_the_missing_xml_library(tmp_path: Path) -> None:
    with_xml = [
        version
        for version in ("3.3.4", "3.4.1", "3.5.0")
        if 'name="jaxb-runtime"'
        in yarn_jars._dependencies(spark(tmp_path / version, f"hadoop-client-api-{version}.jar"))
    ]
    assert with_xml == ["3.4.1"]
