"""The staged checkpoint: after an interruption, finished work stays and unfinished is deleted."""

from pathlib import Path

import pytest
from tests.unit.repartition.checkpoint_on_disk import complete_checkpoint, write_file

from rheostat.repartition.groups import noted
from rheostat.repartition.staging import Staging
from rheostat.storage.local_files import LocalFileSystem


@pytest.fixture
def staging(tmp_path: Path) -> Staging:
    write_file(complete_checkpoint(tmp_path) / "state/0/0/2.zip", "old")
    staged = Staging(str(tmp_path), LocalFileSystem())
    staged.prepare(LocalFileSystem())
    return staged


def note(staging: Staging, name: str, *places: tuple[str, int]) -> None:
    lines = [f"written\t0\t{store}\t{partition}\t1\t2\t3\t0\t" for store, partition in places]
    write_file(Path(staging.notes) / name, "\n".join(lines) + "\n")


def new_files(staging: Staging) -> list[str]:
    return [file.name.removeprefix("state/0/") for file in staging.new_files()]


def test_recorded_work_is_kept_and_the_rest_is_deleted(staging):
    for name in ("0/3.zip", "0/SSTs/1.sst", "3/3.zip", "1/SSTs/2.sst", "_metadata/v2/2"):
        write_file(Path(staging.folder) / "state/0" / name, "new")
    note(staging, "0-default-0", ("default", 0), ("default", 3))
    staging.prepare(LocalFileSystem())
    assert new_files(staging) == ["0/3.zip", "0/SSTs/1.sst", "3/3.zip"]
    assert (Path(staging.folder) / "state/0/0/2.zip").read_text() == "old"


def test_stores_of_a_join_are_kept_separately(staging):
    for name in ("1/left/3.zip", "1/left/SSTs/1.sst", "1/right/3.zip"):
        write_file(Path(staging.folder) / "state/0" / name, "new")
    note(staging, "0-left-1", ("left", 1))
    staging.prepare(LocalFileSystem())
    assert new_files(staging) == ["1/left/3.zip", "1/left/SSTs/1.sst"]


def test_an_unfinished_record_is_ignored(staging):
    write_file(Path(staging.folder) / "state/0/0/3.zip", "new")
    write_file(Path(staging.notes) / ".0-default-0", "written\t0")
    staging.prepare(LocalFileSystem())
    assert new_files(staging) == []


def test_staging_without_its_notes_folder_is_recreated(staging):
    write_file(Path(staging.folder) / "state/0/0/3.zip", "new")
    Path(staging.notes).rmdir()
    staging.prepare(LocalFileSystem())
    assert new_files(staging) == []
    assert Path(staging.notes).is_dir()


def test_a_group_without_a_record_has_no_lines(staging):
    note(staging, "0-default-0", ("default", 0))
    assert len(noted(staging.notes, 0, "default", 0)) == 1
    assert noted(staging.notes, 0, "default", 1) == []
    assert noted("", 0, "default", 0) == []
