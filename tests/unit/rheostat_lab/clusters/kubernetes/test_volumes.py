from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any

import pytest

from rheostat.errors import RheostatError
from rheostat_lab.clusters.kubernetes.volumes import here, mounted


class FakeMaps:
    """Config maps that exist only after some requests."""

    def __init__(self, after: int = 0, **files: str) -> None:
        self._after, self._files = after, files

    def read_namespaced_config_map(self, name: str, namespace: str) -> Any:
        self._after -= 1
        if self._after >= 0:
            raise LookupError(name)
        return Made(data=self._files)


def pod(path: str, **volume: Any) -> Any:
    mount = Made(name="v", mount_path=path)
    kinds = {"config_map": None, "host_path": None, **volume}
    spec = Made(volumes=[Made(name="v", **kinds)], containers=[Made(volume_mounts=[mount])])
    return Made(metadata=Made(namespace="jobs"), spec=spec)


def config(**more: Any) -> Any:
    return Made(**{"name": "c", "optional": None, "items": None, **more})


def test_configuration_becomes_files_once_it_is_there(tmp_path: Path) -> None:
    maps = FakeMaps(after=1, **{"spark.properties": "a=b"})
    found = mounted(maps, pod("/opt/conf", config_map=config()), tmp_path)
    assert found == {"/opt/conf": tmp_path / "v"}
    assert (tmp_path / "v" / "spark.properties").read_text() == "a=b"


def test_chosen_items_have_their_own_names(tmp_path: Path) -> None:
    chosen = config(items=[Made(key="a", path="deep/b")])
    mounted(FakeMaps(a="1", c="2"), pod("/opt/conf", config_map=chosen), tmp_path)
    assert [path.name for path in (tmp_path / "v").rglob("*") if path.is_file()] == ["b"]


def test_configuration_that_does_not_come_is_named(tmp_path: Path) -> None:
    with pytest.raises(RheostatError, match="no config map c"):
        mounted(FakeMaps(after=99), pod("/opt/conf", config_map=config()), tmp_path, wait_s=0)


def test_a_folder_of_the_node_is_where_it_is(tmp_path: Path) -> None:
    assert mounted(FakeMaps(), pod("/data", host_path=Made(path="/data")), tmp_path) == {}
    with pytest.raises(RheostatError, match="the same path"):
        mounted(FakeMaps(), pod("/data", host_path=Made(path="/srv")), tmp_path)


def test_paths_of_the_container_lead_to_their_folders() -> None:
    mounts = {"/opt/conf": Path("/pods/a/v")}
    assert here("/opt/conf/spark.properties", mounts) == "/pods/a/v/spark.properties"
    assert here("/opt/conf", mounts) == "/pods/a/v"
    assert here("/opt/configuration", mounts) == "/opt/configuration"
