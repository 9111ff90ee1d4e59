from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.local import cluster_kinds
from rheostat.local.kubernetes import plane_build
from rheostat.local.spark_defaults import write_defaults


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "mesos", "cores": 1}, "must be one of standalone, yarn, kubernetes"),
        ({"kind": "yarn", "cores": 0}, "at least 1 core"),
        ({"kind": "yarn", "cores": 2, "nodes": 3}, "as many nodes as it has cores"),
        ({"kind": "kubernetes", "cores": 2, "nodes": 0}, "as many nodes as it has cores"),
        ({"kind": "kubernetes", "cores": 2, "port": 7}, "--port is for a Standalone master"),
        ({"kind": "standalone", "cores": 2, "nodes": 2}, "has 1 worker"),
    ],
)
def test_what_no_cluster_can_be_is_refused_before_anything_starts(
    given: dict[str, object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(BadInput, match=said):
        cluster_kinds.up(**given)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_ended_where_nothing_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert cluster_kinds.down() == []


def test_without_go_nothing_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    told: list[str] = []
    with pytest.raises(BadInput, match="no go on the PATH"):
        plane_build.build(told.append)
    assert told == []
    assert list(tmp_path.iterdir()) == []


def test_what_is_in_the_cache_is_not_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = plane_build.programs_folder()
    folder.mkdir(parents=True)
    for name in plane_build.PROGRAMS:
        assert not plane_build.are_built()
        (folder / name).touch()
    assert plane_build.are_built()
    assert plane_build.build(pytest.fail) == folder


def test_kubernetes_is_built_with_the_staging_modules_of_its_release() -> None:
    theirs = (
        "module k8s.io/kubernetes\ngo 1.24.0\n\nreplace (\n\tk8s.io/api => ./staging/src/x\n)\n"
    )
    made = plane_build._module(theirs)
    assert made.splitlines() == [
        "module build",
        "go 1.24.0",
        "require k8s.io/kubernetes v1.34.1",
        "replace k8s.io/api => k8s.io/api v0.34.1",
    ]


def test_the_defaults_of_a_cluster_are_read_as_spark_reads_them(tmp_path: Path) -> None:
    from rheostat.spark.settings.user_settings import settings_of_user

    write_defaults(tmp_path, {"spark.master": "yarn", "spark.driver.host": "127.0.0.1"})
    given = settings_of_user({"SPARK_CONF_DIR": str(tmp_path)})
    assert {name: each.value for name, each in given.items()} == {
        "spark.master": "yarn",
        "spark.driver.host": "127.0.0.1",
    }
