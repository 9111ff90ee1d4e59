"""The volumes of a pod whose container is a process: local folders and a path mapping."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from rheostat.errors import RheostatError

WAIT_S = 60.0
"""Seconds; a pod may exist before its configuration, which Spark creates after its driver's pod."""

POLL_S = 0.2


class ConfigMaps(Protocol):
    """The part of the API that reads configuration maps."""

    def read_namespaced_config_map(self, name: str, namespace: str) -> Any:
        """Return a configuration map; raises if it does not exist."""


def mounted(api: ConfigMaps, pod: Any, folder: Path, wait_s: float = WAIT_S) -> dict[str, Path]:
    """Create the volumes of a pod's first container in a folder; return the local folder of each
    path of the container.

    Waits ``wait_s`` seconds for configuration. A folder of the node cannot be moved, so its mount
    must have the same path. Other kinds of volume are ignored. Raises RheostatError for missing
    configuration and for a mount at another path.
    """
    volumes = {declared.name: declared for declared in pod.spec.volumes or []}
    places: dict[str, Path] = {}
    for mount in pod.spec.containers[0].volume_mounts or []:
        volume = volumes.get(mount.name)
        if volume is None:
            continue
        if volume.config_map:
            place = folder / mount.name
            given = _data(api, volume.config_map, pod.metadata.namespace, wait_s)
            _fill(place, _chosen(given, volume.config_map))
            places[mount.mount_path] = place
        elif volume.host_path and volume.host_path.path != mount.mount_path:
            raise RheostatError(
                f"the volume {mount.name} is {volume.host_path.path} of the node, but it is mounted"
                f" at {mount.mount_path}; pods are processes here: give both the same path"
            )
    return places


def here(word: str, mounts: Mapping[str, Path]) -> str:
    """Return an argument with a path of the container replaced by the local path."""
    for path, place in mounts.items():
        if word == path or word.startswith(f"{path}/"):
            return f"{place}{word[len(path) :]}"
    return word


def _data(api: ConfigMaps, wanted: Any, namespace: str, wait_s: float) -> Mapping[str, str]:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            return dict(api.read_namespaced_config_map(wanted.name, namespace).data or {})
        except Exception as fault:
            if wanted.optional:
                return {}
            if time.monotonic() >= deadline:
                raise RheostatError(f"there is no config map {wanted.name}: {fault!r}") from None
        time.sleep(POLL_S)


def _chosen(given: Mapping[str, str], wanted: Any) -> dict[str, str]:
    if not wanted.items:
        return dict(given)
    return {item.path: given[item.key] for item in wanted.items if item.key in given}


def _fill(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
