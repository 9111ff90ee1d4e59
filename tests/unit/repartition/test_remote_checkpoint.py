"""A remote checkpoint is rewritten locally, uploaded, and killed at every remote change."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.unit.repartition.toy_query import (
    ROWS,
    Refused,
    ToyEngine,
    ToyQuery,
    copy_checkpoint,
    expected,
)
from tests.unit.storage.object_folder import BUCKET, ObjectFolder
from tests.unit.storage.remote_folder import Killed, RemoteFolder

from rheostat.errors import BadInput, RheostatError
from rheostat.repartition import repair as repairs
from rheostat.repartition.checkpoint import refused_place
from rheostat.repartition.repair import repair, repair_sink
from rheostat.repartition.repartition_log import RepartitionState, offset_entry
from rheostat.repartition.spark_repartition import repartition, undo

OLD, NEW = 4, 7


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    ToyQuery(tmp_path / "ready", OLD).run(4)
    return tmp_path / "ready"


def to_new(
    folder: Path, files: RemoteFolder | None = None, engine: ToyEngine | None = None, sink: str = ""
) -> RepartitionState:
    return repartition(
        str(folder),
        NEW,
        lambda _: engine or ToyEngine(),
        files=files or RemoteFolder(),
        sink=sink,
        check_stopped=lambda *_: None,
    )


def to_old(folder: Path, files: RemoteFolder | None = None, sink: str = "") -> RepartitionState:
    return undo(str(folder), files=files or RemoteFolder(), check_stopped=lambda *_: None)


def lease_of(checkpoint: Path) -> Path:
    return checkpoint / "_rheostat" / "lease.json"


def assert_completes(folder: Path, partitions: int) -> None:
    query = ToyQuery(folder)
    query.run()
    assert query.output == expected(ROWS)
    assert query.partitions == partitions


def test_a_remote_checkpoint_gets_its_new_number_and_the_query_continues(ready: Path) -> None:
    assert to_new(ready).phase == "done"
    assert_completes(ready, NEW)
    assert not (ready / "_rheostat" / "staged").exists()


def test_a_remote_repartition_is_undone(ready: Path) -> None:
    to_new(ready)
    assert to_old(ready).phase == "ended"
    assert_completes(ready, OLD)


def test_a_rewrite_that_loses_rows_leaves_the_checkpoint_unchanged(ready: Path) -> None:
    with pytest.raises(RheostatError, match="as it was before"):
        to_new(ready, engine=ToyEngine(lose=1))
    assert_completes(ready, OLD)


class Store:
    """Where the checkpoints of a test are, as its file system names them."""

    def __init__(self, files: Callable[[Path, int | None], RemoteFolder], prefix: str) -> None:
        self.files = files
        self.prefix = prefix

    def work(self, way: str, folder: Path, dies_at: int | None = None) -> RemoteFolder:
        """Repartition a checkpoint or undo that; return the file system that was used."""
        files = self.files(folder.parent, dies_at)
        name = f"{self.prefix}/{folder.name}" if self.prefix else str(folder)
        if way == "forth":
            repartition(name, NEW, _toy_engine, files=files, check_stopped=lambda *_: None)
        else:
            undo(name, files=files, check_stopped=lambda *_: None)
        return files


def _toy_engine(_: object) -> ToyEngine:
    return ToyEngine()


HADOOP = Store(lambda _, dies_at: RemoteFolder(dies_at), "")
OBJECTS = Store(ObjectFolder, BUCKET)


@pytest.mark.parametrize("way", ["forth", "back"])
@pytest.mark.parametrize("store", [HADOOP, OBJECTS], ids=["hdfs", "s3a"])
def test_a_kill_at_any_change_can_be_resumed_or_rolled_back(
    ready: Path, tmp_path: Path, way: str, store: Store
) -> None:
    if way == "back":
        store.work("forth", ready)
    changes = store.work(way, copy_checkpoint(ready, tmp_path / "completed")).changes
    assert changes > 15
    for point in range(changes):
        interrupted = copy_checkpoint(ready, tmp_path / "cut")
        with pytest.raises(Killed):
            store.work(way, interrupted, point)
        lease_of(interrupted).unlink(missing_ok=True)  # its holder is this process, which lives
        for remedy, partitions in (("forth", NEW), ("back", OLD)):
            if way == "back" and remedy == "forth":
                continue
            repaired = copy_checkpoint(interrupted, tmp_path / "cured")
            with suppress(BadInput):  # before the beginning or after the end
                store.work(remedy, repaired)
            done = partitions if (repaired / "_rheostat" / "journal.jsonl").exists() else OLD
            assert_completes(repaired, done)


def test_object_stores_have_at_least_thirty_kill_points(ready: Path) -> None:
    changes = OBJECTS.work("forth", ready).changes + OBJECTS.work("back", ready).changes
    assert changes >= 30


def test_a_repeated_undo_keeps_files_that_the_query_wrote_since(
    ready: Path, tmp_path: Path
) -> None:
    OBJECTS.work("forth", ready)
    changes = OBJECTS.work("back", copy_checkpoint(ready, tmp_path / "completed")).changes
    for point in range(changes):
        interrupted = copy_checkpoint(ready, tmp_path / "cut")
        with pytest.raises(Killed):
            OBJECTS.work("back", interrupted, point)
        lease_of(interrupted).unlink(missing_ok=True)
        query = ToyQuery(interrupted)
        with suppress(Refused):
            query.run(2)
        with suppress(BadInput):  # the query has gone on with the new number
            OBJECTS.work("back", interrupted)
        query.run()
        assert query.output == expected(ROWS)


def test_an_object_written_after_an_undo_is_not_treated_as_ours(
    ready: Path, tmp_path: Path
) -> None:
    done = copy_checkpoint(ready, tmp_path / "done")
    OBJECTS.work("forth", done)
    changes = OBJECTS.work("back", copy_checkpoint(done, tmp_path / "completed")).changes
    journal = ""
    while '"withdrawing"' not in journal:  # the last change before the journal has "unlocked"
        changes -= 1
        interrupted = copy_checkpoint(done, tmp_path / "cut")
        with pytest.raises(Killed):
            OBJECTS.work("back", interrupted, changes)
        journal = (interrupted / "_rheostat" / "journal.jsonl").read_text().splitlines()[-1]
    lease_of(interrupted).unlink()
    assert not (interrupted / "offsets" / "4").exists()
    ToyQuery(interrupted).run(1)
    name = Path("state/0/0/5.snapshot")
    same = (done / name).read_bytes()
    (interrupted / name).write_bytes(same)
    OBJECTS.work("back", interrupted)
    assert (interrupted / name).read_bytes() == same


@pytest.mark.parametrize("remedy", [to_new, to_old])
def test_a_kill_at_any_change_leaves_no_gap_in_a_file_sink(
    tmp_path: Path, remedy: Callable[..., RepartitionState]
) -> None:
    folder, log = tmp_path / "checkpoint", tmp_path / "checkpoint" / "out" / "_spark_metadata"
    ToyQuery(folder, OLD, log).run(4)
    ready = copy_checkpoint(folder, tmp_path / "ready")
    completed = RemoteFolder()
    to_new(folder, completed, sink=str(log.parent))
    for point in range(0, completed.changes, 2):
        copy_checkpoint(ready, folder)
        with pytest.raises(Killed):
            to_new(folder, RemoteFolder(point), sink=str(log.parent))
        lease_of(folder).unlink(missing_ok=True)
        with suppress(BadInput):
            remedy(folder, sink=str(log.parent))
        query = ToyQuery(folder, log=log)
        query.run()
        assert query.output == expected(ROWS)
        numbers = sorted(int(path.name) for path in log.iterdir() if path.name.isdecimal())
        assert numbers == [*range(len(numbers))]


def begin_as_spark(folder: Path) -> None:
    last = (folder / "offsets" / "3").read_text()
    (folder / "offsets" / "4").write_text(offset_entry(last, NEW))
    (folder / "state" / "0" / "6").mkdir()
    (folder / "state" / "0" / "6" / "5.snapshot").write_text("{}")


def test_an_unfinished_repartition_of_spark_is_repaired_after_any_kill(
    ready: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repairs, "require_stopped", lambda *_: None)
    begin_as_spark(ready)
    completed = RemoteFolder()
    done = repair(str(copy_checkpoint(ready, tmp_path / "completed")), completed)
    assert (done.batch, done.partitions) == (3, OLD)
    assert done.moved == ("state/0/6/5.snapshot", "offsets/4")
    for point in range(completed.changes):
        interrupted = copy_checkpoint(ready, tmp_path / "cut")
        with pytest.raises(Killed):
            repair(str(interrupted), RemoteFolder(point))
        lease_of(interrupted).unlink(missing_ok=True)  # its owner is this process, which is alive
        with suppress(BadInput):  # it was finished except for its lease
            repair(str(interrupted), RemoteFolder())
        assert_completes(interrupted, OLD)


def test_a_remote_sink_log_gets_its_missing_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repairs, "require_stopped", lambda *_: None)
    folder, log = tmp_path / "checkpoint", tmp_path / "out" / "_spark_metadata"
    ToyQuery(folder, OLD, log).run(4)
    to_new(folder)
    ToyQuery(folder, log=log).run(1)
    assert repair_sink(str(folder), str(log.parent), RemoteFolder()) == (4,)
    assert repair_sink(str(folder), str(log.parent), RemoteFolder()) == ()


@pytest.mark.parametrize("location", ["s3n://bucket/cp", "abfss://x@y/z"])
def test_unsupported_object_stores_are_rejected(location: str) -> None:
    assert "nor on HDFS, S3 (s3a://) or GCS (gs://): copy the checkpoint" in (
        refused_place(location) or ""
    )


@pytest.mark.parametrize(
    "location", ["s3a://b/cp", "hdfs://host/cp", "viewfs://x/cp", "/cp", "file:/cp"]
)
def test_supported_locations_are_accepted(location: str) -> None:
    assert refused_place(location) is None
