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


def test_a_config_map_becomes_files_once_it_exists(tmp_path: Path) -> None:
    maps = FakeMaps(after=1, **{"spark.properties": "a=b"})
    mounts = mounted(maps, pod("/opt/conf", config_map=config()), tmp_path)
    assert mounts == {"/opt/conf": tmp_path / "v"}
    assert (tmp_path / "v" / "spark.properties").read_text() == "a=b"


def test_selected_items_have_their_configured_paths(tmp_path: Path) -> None:
    chosen = config(items=[Made(key="a", path="deep/b")])
    mounted(FakeMaps(a="1", c="2"), pod("/opt/conf", config_map=chosen), tmp_path)
    assert [path.name for path in (tmp_path / "v").rglob("*") if path.is_file()] == ["b"]


def test_a_missing_config_map_is_named(tmp_path: Path) -> None:
    with pytest.raises(RheostatError, match="no config map c"):
        mounted(FakeMaps(after=99), pod("/opt/conf", config_map=config()), tmp_path, wait_s=0)


def test_a_host_folder_must_have_the_same_path_in_the_container(tmp_path: Path) -> None:
    assert mounted(FakeMaps(), pod("/data", host_path=Made(path="/data")), tmp_path) == {}
    with pytest.raises(RheostatError, match="the same path"):
        mounted(FakeMaps(), pod("/data", host_path=Made(path="/srv")), tmp_path)


def test_container_paths_are_translated_to_local_folders() -> None:
    mounts = {"/opt/conf": Path("/pods/a/v")}
    assert here("/opt/conf/spark.properties", mounts) == "/pods/a/v/spark.properties"
    assert here("/opt/conf", mounts) == "/pods/a/v"
    assert here("/opt/configuration", mounts) == "/opt/configuration"
