from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.lab import archive
from rheostat.lab.nexmark.queries import q1


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _jre(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").touch()
    (folder / "release").write_text('JAVA_VERSION="17.0.1"\n')
    return folder


def test_an_archive_that_was_never_trained_is_absent_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = archive.find(jars=[tmp_path / "a.jar"])
    assert (found.path, found.flags) == (None, ())
    assert "trained" in (found.note or "")


def test_a_jre_trains_nothing_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(_jre(tmp_path / "jre")))
    prepared = archive.prepare()
    assert prepared.path is None
    assert "is a JRE" in (prepared.note or "")
    assert _files(tmp_path / "cache") == []


def test_a_query_that_no_other_process_can_find_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(BadInput, match="must be a function of a module"):
        archive.prepare(lambda spark: spark)


def test_a_trained_archive_is_found_for_its_query_and_jars_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jar = tmp_path / "a.jar"
    jar.write_text("a")
    path = archive.archive_path(q1, [jar])
    path.parent.mkdir(parents=True)
    path.touch()
    assert archive.find(q1, [jar]).path == path
    assert archive.prepare(q1, jars=[jar]).path == path
    assert archive.find(q1).path is None
    assert archive.find(jars=[jar]).path is None
    jar.write_text("another content")
    assert archive.find(q1, [jar]).path is None


def test_the_flags_name_the_archive_and_silence_its_absence() -> None:
    assert archive.flags(Path("/a.jsa"))[0] == "-XX:SharedArchiveFile=/a.jsa"
    assert {"-Xshare:auto", "-Xlog:cds=off"} <= set(archive.flags(Path("/a.jsa")))
