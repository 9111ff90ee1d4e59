import json
from pathlib import Path

import pytest
from tests.unit.repartition.checkpoint_on_disk import (
    commit_batch,
    complete_checkpoint,
    plan_batch,
    write_file,
    write_operator,
)

from rheostat.errors import BadInput
from rheostat.repartition.checkpoint import HDFS_BACKED, Checkpoint, read_checkpoint
from rheostat.repartition.state_engine import StoreId
from rheostat.spark.sensing.query_shape import ROCKSDB
from rheostat.storage.file_system import is_remote
from rheostat.storage.local_files import LocalFileSystem


def read(folder: Path) -> Checkpoint:
    return read_checkpoint(str(folder), LocalFileSystem())


def test_the_offset_log_and_not_the_metadata_gives_the_partitions(tmp_path):
    complete_checkpoint(tmp_path)
    plan_batch(tmp_path, 2, 7)
    commit_batch(tmp_path, 2)
    checkpoint = read(tmp_path)
    assert (checkpoint.partitions, checkpoint.committed.batch) == (7, 2)
    assert (checkpoint.uncommitted, checkpoint.unfinished_partitions) == ((), None)


def test_the_provider_comes_from_the_log_or_sparks_default(tmp_path):
    assert read(complete_checkpoint(tmp_path / "a")).provider == HDFS_BACKED
    assert read(complete_checkpoint(tmp_path / "b", ROCKSDB)).is_rocksdb


def test_a_planned_batch_of_the_same_size_is_uncommitted(tmp_path):
    plan_batch(complete_checkpoint(tmp_path), 2, 4)
    checkpoint = read(tmp_path)
    assert [entry.batch for entry in checkpoint.uncommitted] == [2]
    assert checkpoint.unfinished_partitions is None


def test_a_planned_batch_of_another_size_is_an_unfinished_repartition(tmp_path):
    plan_batch(complete_checkpoint(tmp_path), 2, 7)
    assert read(tmp_path).unfinished_partitions == 7


def test_the_commit_log_provides_the_ids_of_format_2(tmp_path):
    complete_checkpoint(tmp_path)
    plan_batch(tmp_path, 2, 2)
    commit_batch(tmp_path, 2, stateUniqueIds={"0": [["a"], ["b"]]})
    checkpoint = read(tmp_path)
    assert (checkpoint.format, checkpoint.state.ids) == (2, {"0": (("a",), ("b",))})


def test_operators_are_read_with_their_stores(tmp_path):
    write_operator(complete_checkpoint(tmp_path), 1, "symmetricHashJoin", ("left", "right"))
    checkpoint = read(tmp_path)
    assert [operator.name for operator in checkpoint.operators] == [
        "stateStoreSave",
        "symmetricHashJoin",
    ]
    assert tuple(
        StoreId(checkpoint.operators[1].id, store) for store in checkpoint.operators[1].stores
    ) == (StoreId(1, "left"), StoreId(1, "right"))


def test_format_2_uses_the_metadata_of_the_newest_committed_batch(tmp_path):
    complete_checkpoint(tmp_path)
    for batch, store in ((0, "old"), (1, "default"), (9, "later")):
        metadata = {
            "operatorInfo": {"operatorId": 0, "operatorName": "transformWithStateInPandasExec"},
            "operatorPropertiesJson": "{}",
            "stateStoreInfo": [
                {"storeName": store, "numColsPrefixKey": 0, "stateSchemaFilePaths": ["s"]}
            ],
        }
        write_file(tmp_path / "state/0/_metadata/v2" / str(batch), f"v2\n{json.dumps(metadata)}")
    (operator,) = read(tmp_path).operators
    assert (operator.metadata_format, operator.stores) == (2, ("default",))


def test_checksum_and_temporary_files_are_not_batches(tmp_path):
    complete_checkpoint(tmp_path)
    write_file(tmp_path / "offsets/.2.crc", "")
    write_file(tmp_path / "offsets/.3.tmp", "")
    assert read(tmp_path).committed.batch == 1


def delete_files(folder: Path, *names: str) -> None:
    for name in names:
        for path in (folder / name).rglob("*"):
            if path.is_file():
                path.unlink()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda folder: delete_files(folder, "offsets", "commits"), "is not the checkpoint"),
        (lambda folder: delete_files(folder, "commits"), "has no committed batch"),
        (lambda folder: (folder / "offsets/1").unlink(), "offsets/1 is missing"),
        (lambda folder: delete_files(folder, "state"), "an older Spark"),
        (lambda folder: (folder / "state").rename(folder / "elsewhere"), "has no state"),
        (lambda folder: (folder / "offsets/1").write_text("v1\n"), "not an entry of an offset log"),
        (lambda folder: (folder / "offsets/1").write_text('v9\n{"conf": {}}'), "format 'v9'"),
        (lambda folder: plan_batch(folder, 1, "many"), "does not contain"),
        (lambda folder: (folder / "commits/1").write_text("v1\n]"), "not an entry of a commit log"),
        (lambda folder: (folder / "commits/1").write_text("v7\n{}"), "format 'v7'"),
        (
            lambda folder: write_file(folder / "state/0/_metadata/metadata", "v1"),
            "not the metadata of an",
        ),
    ],
)
def test_unreadable_checkpoints_are_rejected_with_the_cause(tmp_path, broken, message):
    broken(complete_checkpoint(tmp_path))
    with pytest.raises(BadInput, match=message):
        read(tmp_path)


def test_only_file_schemes_are_local():
    assert not is_remote("/a/b")
    assert not is_remote("file:///a/b")
    assert is_remote("s3a://bucket/a")
