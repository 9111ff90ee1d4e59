import json
from pathlib import Path

import pytest
from tests.unit.repartition.checkpoint_on_disk import committed, operator, planned, whole, written

from rheostat.errors import BadInput
from rheostat.repartition.checkpoint import HDFS_BACKED, Checkpoint, read_checkpoint
from rheostat.repartition.state_engine import StoreId
from rheostat.spark.sensing.query_shape import ROCKSDB
from rheostat.storage.file_system import is_remote
from rheostat.storage.local_files import LocalFileSystem


def read(folder: Path) -> Checkpoint:
    return read_checkpoint(str(folder), LocalFileSystem())


def test_the_offset_log_tells_the_number_of_partitions_not_the_metadata(tmp_path):
    whole(tmp_path)
    planned(tmp_path, 2, 7)
    committed(tmp_path, 2)
    found = read(tmp_path)
    assert (found.partitions, found.committed.batch) == (7, 2)
    assert (found.uncommitted, found.unfinished_partitions) == ((), None)


def test_the_provider_is_the_logs_or_sparks_default(tmp_path):
    assert read(whole(tmp_path / "a")).provider == HDFS_BACKED
    assert read(whole(tmp_path / "b", ROCKSDB)).is_rocksdb


def test_a_planned_batch_of_the_same_size_is_uncommitted_and_no_repartition(tmp_path):
    planned(whole(tmp_path), 2, 4)
    found = read(tmp_path)
    assert [each.batch for each in found.uncommitted] == [2]
    assert found.unfinished_partitions is None


def test_a_planned_batch_of_another_size_is_an_unfinished_repartition(tmp_path):
    planned(whole(tmp_path), 2, 7)
    assert read(tmp_path).unfinished_partitions == 7


def test_the_commit_log_has_the_ids_of_format_2(tmp_path):
    whole(tmp_path)
    planned(tmp_path, 2, 2)
    committed(tmp_path, 2, stateUniqueIds={"0": [["a"], ["b"]]})
    found = read(tmp_path)
    assert (found.format, found.state.ids) == (2, {"0": (("a",), ("b",))})


def test_operators_are_read_with_their_stores(tmp_path):
    operator(whole(tmp_path), 1, "symmetricHashJoin", ("left", "right"))
    found = read(tmp_path)
    assert [each.name for each in found.operators] == ["stateStoreSave", "symmetricHashJoin"]
    assert tuple(
        StoreId(found.operators[1].id, store.name) for store in found.operators[1].stores
    ) == (StoreId(1, "left"), StoreId(1, "right"))


def test_metadata_of_format_2_is_that_of_the_newest_committed_batch(tmp_path):
    whole(tmp_path)
    for batch, store in ((0, "old"), (1, "default"), (9, "later")):
        told = {
            "operatorInfo": {"operatorId": 0, "operatorName": "transformWithStateInPandasExec"},
            "operatorPropertiesJson": "{}",
            "stateStoreInfo": [
                {"storeName": store, "numColsPrefixKey": 0, "stateSchemaFilePaths": ["s"]}
            ],
        }
        written(tmp_path / "state/0/_metadata/v2" / str(batch), f"v2\n{json.dumps(told)}")
    (only,) = read(tmp_path).operators
    assert (only.metadata_format, only.stores[0].name) == (2, "default")
    assert only.stores[0].schema_files == ("s",)


def test_checksum_files_and_temporary_files_are_no_batches(tmp_path):
    whole(tmp_path)
    written(tmp_path / "offsets/.2.crc", "")
    written(tmp_path / "offsets/.3.tmp", "")
    assert read(tmp_path).committed.batch == 1


def emptied(folder: Path, *names: str) -> None:
    for name in names:
        for each in (folder / name).rglob("*"):
            if each.is_file():
                each.unlink()


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda folder: emptied(folder, "offsets", "commits"), "is no checkpoint"),
        (lambda folder: emptied(folder, "commits"), "has no committed batch"),
        (lambda folder: (folder / "offsets/1").unlink(), "offsets/1 is missing"),
        (lambda folder: emptied(folder, "state"), "an older Spark"),
        (lambda folder: (folder / "state").rename(folder / "elsewhere"), "has no state"),
        (lambda folder: (folder / "offsets/1").write_text("v1\n"), "no entry of an offset log"),
        (lambda folder: (folder / "offsets/1").write_text('v9\n{"conf": {}}'), "format 'v9'"),
        (lambda folder: planned(folder, 1, "many"), "does not say"),
        (lambda folder: (folder / "commits/1").write_text("v1\n]"), "no entry of a commit log"),
        (lambda folder: (folder / "commits/1").write_text("v7\n{}"), "format 'v7'"),
        (lambda folder: written(folder / "state/0/_metadata/metadata", "v1"), "no metadata of an"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, broken, said):
    broken(whole(tmp_path))
    with pytest.raises(BadInput, match=said):
        read(tmp_path)


def test_a_scheme_other_than_file_is_not_local():
    assert not is_remote("/a/b")
    assert not is_remote("file:///a/b")
    assert is_remote("s3a://bucket/a")
