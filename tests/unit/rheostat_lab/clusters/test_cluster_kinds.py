from __future__ import annotations

import re
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat_lab.clusters import cluster_kinds


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "mesos", "cores": 1}, "must be one of standalone, yarn, kubernetes"),
        ({"kind": "yarn", "cores": 0}, "at least 1 core"),
        ({"kind": "yarn", "cores": 2, "nodes": 3}, "as many nodes as it has cores"),
        ({"kind": "kubernetes", "cores": 2, "nodes": 0}, "as many nodes as it has cores"),
        ({"kind": "kubernetes", "cores": 2, "port": 7}, "--port is for a Standalone master"),
        ({"kind": "standalone", "cores": 2, "nodes": 2}, "has 1 worker"),
    ],
)
def test_invalid_clusters_are_rejected_before_anything_starts(
    given: dict[str, object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(BadInput, match=message):
        cluster_kinds.up(**given)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_taking_down_a_stopped_cluster_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert cluster_kinds.down() == []


@pytest.mark.parametrize("kind", ["yarn", "kubernetes"])
def test_without_the_lab_package_its_cluster_kinds_name_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_kinds, "entry_points", lambda **_: EntryPoints())
    named = f"the cluster kind {kind} comes with the package rheostat-lab, "
    with pytest.raises(BadInput, match=re.escape(named)):
        cluster_kinds.up(kind, cores=2)
    assert cluster_kinds.find_kind("standalone") is cluster_kinds.STANDALONE
