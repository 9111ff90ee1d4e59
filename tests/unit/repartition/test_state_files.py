"""A missing file is reported before anything is written."""

import json
import zipfile
from pathlib import Path

from tests.unit.repartition.checkpoint_on_disk import (
    commit_batch,
    plan_batch,
    write_file,
    write_operator,
)

from rheostat.repartition.checkpoint import missing_file, read_checkpoint
from rheostat.storage.local_files import LocalFileSystem


def with_files(folder: Path, *names: str, partitions: int = 1) -> Path:
    """Write version 5 of the state with these files in every partition."""
    plan_batch(folder, 4, partitions)
    commit_batch(folder, 4)
    write_operator(folder)
    for partition in range(partitions):
        for name in names:
            write_file(folder / "state/0" / str(partition) / name, "")
    return folder


def missing(folder: Path) -> str | None:
    path = missing_file(read_checkpoint(str(folder), LocalFileSystem()))
    return path and path.removeprefix(str(folder / "state/0"))


def test_a_snapshot_needs_no_other_file(tmp_path):
    assert missing(with_files(tmp_path, "5.snapshot")) is None


def test_changes_after_a_snapshot_need_no_older_file(tmp_path):
    assert missing(with_files(tmp_path, "3.snapshot", "4.delta", "5.delta")) is None


def test_a_missing_changelog_is_named(tmp_path):
    assert missing(with_files(tmp_path, "2.zip", "3.changelog", "5.changelog")) == "/0/4.changelog"


def test_files_of_format_2_have_ids_in_their_names(tmp_path):
    assert missing(with_files(tmp_path, "4_ab-1.zip", "5_cd-2.changelog")) is None


def test_later_versions_cannot_be_loaded(tmp_path):
    assert missing(with_files(tmp_path, "6.snapshot", "7.delta")) == "/0/5.delta"


def test_an_empty_partition_is_named(tmp_path):
    with_files(tmp_path, "5.snapshot", partitions=3)
    (tmp_path / "state/0/2/5.snapshot").unlink()
    assert missing(tmp_path) == "/2/5.changelog"


def test_an_operator_without_a_key_has_one_partition(tmp_path):
    with_files(tmp_path, "5.zip")
    plan_batch(tmp_path, 4, 8)
    assert missing(tmp_path) is None


def test_table_files_are_checked_by_the_zips_metadata(tmp_path):
    with_files(tmp_path)
    folder = tmp_path / "state/0/0"
    metadata = {
        "sstFiles": [{"localFileName": "1.sst", "dfsSstFileName": "1-x.sst", "sizeBytes": 3}]
    }
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "5.zip", "w") as archive:
        archive.writestr("metadata", f"v1\n{json.dumps(metadata)}")
    assert missing(tmp_path) == "/0/SSTs/1-x.sst"
    write_file(folder / "SSTs/1-x.sst", "ab")
    assert missing(tmp_path) == "/0/SSTs/1-x.sst"
    write_file(folder / "SSTs/1-x.sst", "abc")
    assert missing(tmp_path) is None
