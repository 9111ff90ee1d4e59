"""Every file system meets the contract of the port; Hadoop's are tested in tests/e2e."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contract.file_system_checks import CHECKS, Check
from tests.unit.storage.memory_files import MemoryFileSystem
from tests.unit.storage.remote_folder import RemoteFolder

from rheostat.storage.file_system import FileSystem, StorageError, is_remote, moves_in_one_step
from rheostat.storage.local_files import LocalFileSystem


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("files", [LocalFileSystem, MemoryFileSystem, RemoteFolder])
def test_every_file_system_meets_the_contract(
    files: Callable[[], FileSystem], check: Check, tmp_path: Path
) -> None:
    check(files(), str(tmp_path / "files"), tmp_path)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_local_names_may_include_their_scheme(check: Check, tmp_path: Path) -> None:
    check(LocalFileSystem(), f"file:{tmp_path}/files", tmp_path)


def test_a_checksum_is_deleted_with_its_file(tmp_path: Path) -> None:
    files = LocalFileSystem()
    for number, change in enumerate((files.create, files.write)):
        (tmp_path / f".{number}.crc").write_text("of another text")
        change(str(tmp_path / str(number)), "v1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]
    (tmp_path / ".0.crc").write_text("of this text")
    files.delete(str(tmp_path / "0"))
    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_a_rejected_change_is_reported_in_one_line_with_its_name() -> None:
    with pytest.raises(StorageError, match=r"^/proc/self/a cannot be changed: "):
        LocalFileSystem().write("/proc/self/a", "")


def test_without_hard_links_a_name_is_created_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError("no hard links")

    monkeypatch.setattr("os.link", refused)
    files = LocalFileSystem()
    assert files.create(str(tmp_path / "a"), "1")
    assert not files.create(str(tmp_path / "a"), "2")


@pytest.mark.parametrize(
    ("name", "remote", "one_step"),
    [
        ("/a", False, True),
        ("file:/a", False, True),
        ("hdfs://h/a", True, True),
        ("viewfs://x/a", True, True),
        ("s3a://bucket/a", True, False),
        ("gs://bucket/a", True, False),
        ("abfss://x@y/z", True, False),
    ],
)
def test_the_scheme_determines_the_guarantees_of_a_store(
    name: str, remote: bool, one_step: bool
) -> None:
    assert (is_remote(name), moves_in_one_step(name)) == (remote, one_step)
