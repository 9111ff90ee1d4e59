"""The volumes of a pod whose container is a process: a folder for each, and where a path in the
container leads to here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from rheostat.errors import RheostatError

WAIT_S = 60.0
"""A pod may be there before its configuration: Spark makes that after its driver's pod."""

POLL_S = 0.2


class ConfigMaps(Protocol):
    """What is asked of the API server."""

    def read_namespaced_config_map(self, name: str, namespace: str) -> Any:
        """Return one; raises where there is none."""
        ...


def mounted(api: ConfigMaps, pod: Any, folder: Path, wait_s: float = WAIT_S) -> dict[str, Path]:
    """Make the volumes of a pod's first container in a folder; return where each path of the
    container is here.

    Configuration is waited for ``wait_s`` seconds. A folder of the node is where it is, so its
    mount must have the same path. Other kinds of volume are left out: nobody mounts anything here.
    Raises ``RheostatError`` for configuration that does not come and for a mount elsewhere.
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
    """Return a word with a path of the container in it as a path of this computer."""
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
