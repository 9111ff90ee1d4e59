from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat_lab.clusters.kubernetes import plane_build


def test_without_go_nothing_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    messages: list[str] = []
    with pytest.raises(BadInput, match="no go on the PATH"):
        plane_build.build(messages.append)
    assert messages == []
    assert list(tmp_path.iterdir()) == []


def test_cached_programs_are_not_built_again(
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
