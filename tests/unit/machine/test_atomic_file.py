from __future__ import annotations

import os
from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.machine.atomic_file import replacing, require_writable, write_atomic


def test_a_file_is_written_and_replaced_without_leftovers(tmp_path):
    path = tmp_path / "result.json"
    (tmp_path / "result.json.part").write_text("mine")
    write_atomic(path, "1")
    path.chmod(0o640)
    write_atomic(path, "2")
    assert path.read_text() == "2"
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["result.json", "result.json.part"]
    assert (tmp_path / "result.json.part").read_text() == "mine"


def test_a_new_file_has_the_default_permissions(tmp_path):
    write_atomic(tmp_path / "ours", "")
    (tmp_path / "any").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_the_old_file_is_kept_when_writing_fails(tmp_path):
    path = tmp_path / "result.json"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        _write_half(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def _write_half(path: Path) -> None:
    with replacing(path) as fresh:
        fresh.write_text("half")
        raise ZeroDivisionError


def test_a_symbolic_link_is_kept(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_atomic(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_paths_that_are_not_regular_files_are_rejected(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="is a folder; name a file"):
        require_writable(tmp_path)
    with pytest.raises(BadInput, match="is not a regular file"):
        require_writable(tmp_path / "pipe")
    with pytest.raises(BadInput, match="is not a regular file"):
        write_atomic(Path(os.devnull), "")
    with pytest.raises(BadInput, match="No such file"):
        require_writable(tmp_path / "nowhere" / "result.json")
