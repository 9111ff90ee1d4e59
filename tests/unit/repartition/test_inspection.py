from pathlib import Path

from tests.unit.repartition.checkpoint_on_disk import (
    complete_checkpoint,
    write_file,
    write_operator,
)

from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.repartition.inspection import Counts, Inspection, inspect, skew
from rheostat.storage.local_files import LocalFileSystem


def inspect_checkpoint(
    folder: Path, counts: Counts | None = None, quiet_s: float | None = 100.0
) -> Inspection:
    files = LocalFileSystem()
    return inspect(read_checkpoint(str(folder), files), files, counts or {}, quiet_s=quiet_s)


def test_a_store_reports_the_bytes_of_every_partition(tmp_path):
    complete_checkpoint(tmp_path)
    for partition in range(4):
        write_file(tmp_path / f"state/0/{partition}/1.zip", "x" * (partition + 1))
    (store,) = inspect_checkpoint(tmp_path).stores
    assert [partition_size.file_bytes for partition_size in store.partitions] == [1, 2, 3, 4]
    assert (store.file_bytes, store.skew) == (10, 1.6)
    assert (store.rows, store.bytes) == (None, None)


def test_skew_uses_the_counted_rows(tmp_path):
    complete_checkpoint(tmp_path)
    for partition in range(4):
        write_file(tmp_path / f"state/0/{partition}/1.zip", "x")
    counts = {(0, "default", part): (rows, rows * 10) for part, rows in enumerate((1, 1, 1, 5))}
    (store,) = inspect_checkpoint(tmp_path, counts).stores
    assert (store.rows, store.bytes, store.skew) == (8, 80, 2.5)


def test_stores_of_a_join_are_reported_separately(tmp_path):
    complete_checkpoint(tmp_path)
    write_operator(tmp_path, 0, "symmetricHashJoin", ("left-a", "right-a"))
    write_file(tmp_path / "state/0/0/left-a/1.zip", "xx")
    write_file(tmp_path / "state/0/0/right-a/1.zip", "xxx")
    assert [store.file_bytes for store in inspect_checkpoint(tmp_path).stores] == [2, 3]


def test_an_operator_that_cannot_be_repartitioned_has_a_reason(tmp_path):
    complete_checkpoint(tmp_path)
    write_operator(tmp_path, 0, "globalLimit")
    (store,) = inspect_checkpoint(tmp_path).stores
    assert "no key" in str(store.refusal)


def test_recently_written_logs_indicate_a_running_query(tmp_path):
    complete_checkpoint(tmp_path)
    assert inspect_checkpoint(tmp_path, quiet_s=2.0).in_use
    assert not inspect_checkpoint(tmp_path, quiet_s=200.0).in_use
    assert inspect_checkpoint(tmp_path, quiet_s=None).in_use is None


def test_an_empty_store_has_no_skew():
    assert skew([0, 0]) is None
    assert skew([]) is None
