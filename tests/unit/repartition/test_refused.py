"""Inputs that a repartition rejects: one sentence, exit code 2, nothing written."""

import os
import shutil
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.repartition.checkpoint_on_disk import complete_checkpoint, plan_batch
from tests.unit.repartition.toy_query import ROWS, ToyEngine, ToyQuery, expected

from rheostat.errors import BadInput, RheostatError
from rheostat.repartition import preflight
from rheostat.repartition.repartition_log import RepartitionState, lease_path, leased
from rheostat.repartition.spark_repartition import CheckStopped, repartition, undo
from rheostat.repartition.state_engine import Progress, Rewrite, Rewritten
from rheostat.storage.local_files import LocalFileSystem


def quiet(*_: object) -> None:
    """Do nothing: no query runs."""


def to(
    checkpoint: Path,
    partitions: int,
    engine: ToyEngine | None = None,
    check: CheckStopped = quiet,
) -> RepartitionState:
    return repartition(
        str(checkpoint), partitions, lambda _: engine or ToyEngine(), check_stopped=check
    )


def files_of(folder: Path) -> dict[Path, bytes | None]:
    return {
        path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    ToyQuery(tmp_path / "checkpoint").run(3)
    return tmp_path / "checkpoint"


def assert_refused(folder: Path, partitions: int, message: str) -> None:
    before = files_of(folder)
    with pytest.raises(BadInput, match=message):
        to(folder, partitions)
    assert files_of(folder) == before


def test_a_folder_without_a_checkpoint_is_rejected(tmp_path: Path) -> None:
    assert_refused(tmp_path, 7, "is not the checkpoint of a")


def test_a_missing_folder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a folder"):
        to(tmp_path / "none", 7)


@pytest.mark.parametrize("number", [0, -1, 40_000])
def test_a_number_out_of_range_is_rejected(checkpoint: Path, number: int) -> None:
    assert_refused(checkpoint, number, f"must be from 1 to 32768, but it is {number}")


def test_the_current_number_is_rejected(checkpoint: Path) -> None:
    assert_refused(checkpoint, 4, "--partitions 4 is what .* has now")


def test_a_checkpoint_without_a_committed_batch_is_rejected(tmp_path: Path) -> None:
    plan_batch(tmp_path, 0, 4)
    assert_refused(tmp_path, 7, "has no committed batch")


def test_an_uncommitted_batch_is_rejected(checkpoint: Path) -> None:
    (checkpoint / "commits" / "2").unlink()
    assert_refused(
        checkpoint, 7, "planned batch 2 but not committed it: run the query once to completion"
    )


def test_an_unfinished_repartition_of_spark_is_rejected(tmp_path: Path) -> None:
    complete_checkpoint(tmp_path)
    plan_batch(tmp_path, 2, 7)
    assert_refused(tmp_path, 9, "a repartition to 7 partitions that Spark has not completed")


def test_a_checkpoint_of_an_older_spark_is_rejected(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "state" / "0" / "_metadata")
    assert_refused(checkpoint, 7, "an older Spark has written this checkpoint")


def test_a_missing_offset_log_entry_is_rejected(checkpoint: Path) -> None:
    (checkpoint / "offsets" / "2").unlink()
    assert_refused(checkpoint, 7, "offsets/2 is missing")


def test_a_missing_state_file_leaves_the_query_intact(checkpoint: Path) -> None:
    class Missing(ToyEngine):
        def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
            raise RheostatError("state/0/1/3.delta is missing")

    with pytest.raises(RheostatError, match="is missing"):
        to(checkpoint, 7, Missing())
    ToyQuery(checkpoint).run()
    assert ToyQuery(checkpoint).partitions == 4
    assert ToyQuery(checkpoint).output == expected(ROWS)


def test_a_full_disk_is_rejected(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    assert_refused(checkpoint, 7, "its disk has 0 MB free: make room first")


@pytest.mark.parametrize("location", ["s3a://bucket/cp", "hdfs://host/cp", "abfss://x@y/z"])
def test_an_unsupported_remote_checkpoint_is_rejected(location: str) -> None:
    with pytest.raises(BadInput, match="not on this computer's disks: copy the checkpoint"):
        repartition(location, 7, lambda _: ToyEngine())


def test_a_running_query_is_rejected(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "WATCH_S", 60.0)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            ToyQuery(checkpoint).run(1)
            os.utime(checkpoint / "offsets" / "0")
            time.sleep(0.05)

    running = threading.Thread(target=work)
    running.start()
    try:
        with pytest.raises(BadInput, match="a query is running on"):
            to(checkpoint, 7, check=preflight.require_stopped)
        assert not (checkpoint / "_rheostat").exists()
    finally:
        stop.set()
        running.join()


def test_old_logs_need_no_wait(checkpoint: Path) -> None:
    for path in checkpoint.rglob("*"):
        os.utime(path, (1, 1))
    preflight.require_stopped(
        str(checkpoint), LocalFileSystem(), sleep=lambda _: pytest.fail("it waited")
    )


def test_a_concurrent_repartition_is_rejected(checkpoint: Path) -> None:
    with leased(str(checkpoint), LocalFileSystem()):
        before = files_of(checkpoint)
        with pytest.raises(BadInput, match=f"by another \\(process {os.getpid()} on"):
            to(checkpoint, 7)
        assert files_of(checkpoint) == before
    assert to(checkpoint, 7).phase == "done"


def test_another_number_is_rejected_while_one_is_unfinished(checkpoint: Path) -> None:
    class Stopped(ToyEngine):
        def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        to(checkpoint, 7, Stopped())
    with pytest.raises(BadInput, match="complete it with --partitions 7, or undo it"):
        to(checkpoint, 9)
    assert to(checkpoint, 7).phase == "done"


def test_lost_rows_trigger_a_rollback_that_names_the_store(checkpoint: Path) -> None:
    with pytest.raises(RheostatError, match="as it was before: store default of operator 0"):
        to(checkpoint, 7, ToyEngine(lose=1))
    ToyQuery(checkpoint).run()
    assert ToyQuery(checkpoint).output == expected(ROWS)


def test_a_query_that_continues_meanwhile_keeps_its_number_and_output(checkpoint: Path) -> None:
    class Meanwhile(ToyEngine):
        def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
            done = super().rewrite(wanted, progress)
            ToyQuery(checkpoint).run(1)
            return done

    with pytest.raises(RheostatError, match="the query has planned a batch meanwhile"):
        to(checkpoint, 7, Meanwhile())
    ToyQuery(checkpoint).run()
    assert ToyQuery(checkpoint).partitions == 4
    assert ToyQuery(checkpoint).output == expected(ROWS)


def test_undo_without_a_repartition_is_rejected(checkpoint: Path) -> None:
    with pytest.raises(BadInput, match="has no repartition that can be undone"):
        undo(str(checkpoint), check_stopped=quiet)


def test_undo_after_the_query_continued_suggests_repartitioning_back(
    checkpoint: Path,
) -> None:
    to(checkpoint, 7)
    ToyQuery(checkpoint).run(1)
    before = files_of(checkpoint)
    with pytest.raises(BadInput, match="state repartition --partitions 4 goes back without a loss"):
        undo(str(checkpoint), check_stopped=quiet)
    assert files_of(checkpoint) == before
    to(checkpoint, 4)
    ToyQuery(checkpoint).run()
    assert ToyQuery(checkpoint).partitions == 4
    assert ToyQuery(checkpoint).output == expected(ROWS)


def test_a_truncated_lease_does_not_block(checkpoint: Path) -> None:
    LocalFileSystem().write(lease_path(str(checkpoint)), '{"host": ')
    assert to(checkpoint, 7).phase == "done"
