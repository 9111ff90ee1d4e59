from __future__ import annotations

import re
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat_lab.clusters import cluster_kinds


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


@pytest.mark.parametrize("kind", ["yarn", "kubernetes"])
def test_without_the_lab_its_kinds_name_the_package(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_kinds, "entry_points", lambda **_: EntryPoints())
    named = f"the cluster kind {kind} comes with the package rheostat-lab, "
    with pytest.raises(BadInput, match=re.escape(named)):
        cluster_kinds.up(kind, cores=2)
    assert cluster_kinds.find_kind("standalone") is cluster_kinds.STANDALONE
