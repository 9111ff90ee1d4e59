"""Inputs that a repartition rejects: one sentence, exit code 2, nothing written."""

import os
import shutil
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.repartition.checkpoint_on_disk import planned, whole
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


def everything(folder: Path) -> dict[Path, bytes | None]:
    return {
        path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    ToyQuery(tmp_path / "checkpoint").run(3)
    return tmp_path / "checkpoint"


def refused(folder: Path, partitions: int, said: str) -> None:
    before = everything(folder)
    with pytest.raises(BadInput, match=said):
        to(folder, partitions)
    assert everything(folder) == before


def test_a_folder_that_is_no_checkpoint(tmp_path: Path) -> None:
    refused(tmp_path, 7, "is no checkpoint of a query")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no folder"):
        to(tmp_path / "none", 7)


@pytest.mark.parametrize("number", [0, -1, 40_000])
def test_a_number_out_of_range(checkpoint: Path, number: int) -> None:
    refused(checkpoint, number, f"must be from 1 to 32768, but it is {number}")


def test_the_number_of_today(checkpoint: Path) -> None:
    refused(checkpoint, 4, "--partitions 4 is what .* has now")


def test_no_committed_batch(tmp_path: Path) -> None:
    planned(tmp_path, 0, 4)
    refused(tmp_path, 7, "has no committed batch")


def test_a_batch_that_is_not_committed(checkpoint: Path) -> None:
    (checkpoint / "commits" / "2").unlink()
    refused(checkpoint, 7, "planned batch 2 but not committed it: run the query once to completion")


def test_a_repartition_that_spark_has_not_ended(tmp_path: Path) -> None:
    whole(tmp_path)
    planned(tmp_path, 2, 7)
    refused(tmp_path, 9, "a repartition to 7 partitions that Spark has not completed")


def test_a_checkpoint_of_an_older_spark(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "state" / "0" / "_metadata")
    refused(checkpoint, 7, "an older Spark has written this checkpoint")


def test_a_missing_entry_of_the_offset_log(checkpoint: Path) -> None:
    (checkpoint / "offsets" / "2").unlink()
    refused(checkpoint, 7, "offsets/2 is missing")


def test_a_file_of_the_state_that_is_missing(checkpoint: Path) -> None:
    class Missing(ToyEngine):
        def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
            raise RheostatError("state/0/1/3.delta is missing")

    with pytest.raises(RheostatError, match="is missing"):
        to(checkpoint, 7, Missing())
    ToyQuery(checkpoint).run()
    assert ToyQuery(checkpoint).partitions == 4
    assert ToyQuery(checkpoint).output == expected(ROWS)


def test_a_full_disk(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    refused(checkpoint, 7, "its disk has 0 MB free: make room first")


@pytest.mark.parametrize("location", ["s3a://bucket/cp", "hdfs://host/cp", "abfss://x@y/z"])
def test_a_remote_checkpoint(location: str) -> None:
    with pytest.raises(BadInput, match="not on this computer's disks: copy the checkpoint"):
        repartition(location, 7, lambda _: ToyEngine())


def test_a_query_that_runs(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_old_logs_are_not_watched(checkpoint: Path) -> None:
    for path in checkpoint.rglob("*"):
        os.utime(path, (1, 1))
    preflight.require_stopped(
        str(checkpoint), LocalFileSystem(), sleep=lambda _: pytest.fail("it waited")
    )


def test_a_second_repartition_at_the_same_time(checkpoint: Path) -> None:
    with leased(str(checkpoint), LocalFileSystem()):
        before = everything(checkpoint)
        with pytest.raises(BadInput, match=f"by another \\(process {os.getpid()} on"):
            to(checkpoint, 7)
        assert everything(checkpoint) == before
    assert to(checkpoint, 7).phase == "done"


def test_another_number_while_one_is_unfinished(checkpoint: Path) -> None:
    class Stopped(ToyEngine):
        def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        to(checkpoint, 7, Stopped())
    with pytest.raises(BadInput, match="complete it with --partitions 7, or undo it"):
        to(checkpoint, 9)
    assert to(checkpoint, 7).phase == "done"


def test_rows_that_are_lost_send_it_back_and_say_which_store(checkpoint: Path) -> None:
    with pytest.raises(RheostatError, match="as it was before: store default of operator 0"):
        to(checkpoint, 7, ToyEngine(lose=1))
    ToyQuery(checkpoint).run()
    assert ToyQuery(checkpoint).output == expected(ROWS)


def test_a_query_that_goes_on_meanwhile_keeps_its_number_and_its_output(checkpoint: Path) -> None:
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


def test_nothing_to_be_taken_back(checkpoint: Path) -> None:
    with pytest.raises(BadInput, match="has no repartition that could be taken back"):
        undo(str(checkpoint), check_stopped=quiet)


def test_a_query_that_has_gone_on_is_repartitioned_back_instead(
    checkpoint: Path,
) -> None:
    to(checkpoint, 7)
    ToyQuery(checkpoint).run(1)
    before = everything(checkpoint)
    with pytest.raises(BadInput, match="state repartition --partitions 4 goes back without a loss"):
        undo(str(checkpoint), check_stopped=quiet)
    assert everything(checkpoint) == before
    to(checkpoint, 4)
    ToyQuery(checkpoint).run()
    assert ToyQuery(checkpoint).partitions == 4
    assert ToyQuery(checkpoint).output == expected(ROWS)


def test_a_torn_lease_hinders_nobody(checkpoint: Path) -> None:
    LocalFileSystem().write(lease_path(str(checkpoint)), '{"host": ')
    assert to(checkpoint, 7).phase == "done"
