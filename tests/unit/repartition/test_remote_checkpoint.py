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
    copied,
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


def forth(
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


def back(folder: Path, files: RemoteFolder | None = None, sink: str = "") -> RepartitionState:
    return undo(str(folder), files=files or RemoteFolder(), check_stopped=lambda *_: None)


def lease_of(checkpoint: Path) -> Path:
    return checkpoint / "_rheostat" / "lease.json"


def goes_on(folder: Path, partitions: int) -> None:
    query = ToyQuery(folder)
    query.run()
    assert query.output == expected(ROWS)
    assert query.partitions == partitions


def test_it_gets_its_new_number_and_the_query_goes_on(ready: Path) -> None:
    assert forth(ready).phase == "done"
    goes_on(ready, NEW)
    assert not (ready / "_rheostat" / "staged").exists()


def test_it_is_taken_back(ready: Path) -> None:
    forth(ready)
    assert back(ready).phase == "ended"
    goes_on(ready, OLD)


def test_a_rewrite_that_loses_rows_leaves_it_as_it_was(ready: Path) -> None:
    with pytest.raises(RheostatError, match="as it was before"):
        forth(ready, engine=ToyEngine(lose=1))
    goes_on(ready, OLD)


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
def test_killed_at_every_change_it_is_resumed_or_rolled_back(
    ready: Path, tmp_path: Path, way: str, store: Store
) -> None:
    if way == "back":
        store.work("forth", ready)
    changes = store.work(way, copied(ready, tmp_path / "whole")).changes
    assert changes > 15
    for point in range(changes):
        cut = copied(ready, tmp_path / "cut")
        with pytest.raises(Killed):
            store.work(way, cut, point)
        lease_of(cut).unlink(missing_ok=True)  # its holder is this process, which lives
        for cure, partitions in (("forth", NEW), ("back", OLD)):
            if way == "back" and cure == "forth":
                continue
            cured = copied(cut, tmp_path / "cured")
            with suppress(BadInput):  # before the beginning or after the end
                store.work(cure, cured)
            done = partitions if (cured / "_rheostat" / "journal.jsonl").exists() else OLD
            goes_on(cured, done)


def test_an_object_store_is_killed_at_thirty_points_and_more(ready: Path) -> None:
    changes = OBJECTS.work("forth", ready).changes + OBJECTS.work("back", ready).changes
    assert changes >= 30


def test_an_undo_that_is_repeated_after_the_query_has_gone_on_keeps_the_query_s_files(
    ready: Path, tmp_path: Path
) -> None:
    OBJECTS.work("forth", ready)
    changes = OBJECTS.work("back", copied(ready, tmp_path / "whole")).changes
    for point in range(changes):
        cut = copied(ready, tmp_path / "cut")
        with pytest.raises(Killed):
            OBJECTS.work("back", cut, point)
        lease_of(cut).unlink(missing_ok=True)
        query = ToyQuery(cut)
        with suppress(Refused):
            query.run(2)
        with suppress(BadInput):  # the query has gone on with the new number
            OBJECTS.work("back", cut)
        query.run()
        assert query.output == expected(ROWS)


def test_an_object_that_the_query_has_written_after_an_undo_is_not_taken_for_ours(
    ready: Path, tmp_path: Path
) -> None:
    done = copied(ready, tmp_path / "done")
    OBJECTS.work("forth", done)
    changes = OBJECTS.work("back", copied(done, tmp_path / "whole")).changes
    journal = ""
    while '"withdrawing"' not in journal:  # the last change before the journal has "unlocked"
        changes -= 1
        cut = copied(done, tmp_path / "cut")
        with pytest.raises(Killed):
            OBJECTS.work("back", cut, changes)
        journal = (cut / "_rheostat" / "journal.jsonl").read_text().splitlines()[-1]
    lease_of(cut).unlink()
    assert not (cut / "offsets" / "4").exists()
    ToyQuery(cut).run(1)
    name = Path("state/0/0/5.snapshot")
    same = (done / name).read_bytes()
    (cut / name).write_bytes(same)
    OBJECTS.work("back", cut)
    assert (cut / name).read_bytes() == same


@pytest.mark.parametrize("cure", [forth, back])
def test_killed_at_every_change_a_file_sink_loses_no_batch_and_has_no_gap(
    tmp_path: Path, cure: Callable[..., RepartitionState]
) -> None:
    folder, log = tmp_path / "checkpoint", tmp_path / "checkpoint" / "out" / "_spark_metadata"
    ToyQuery(folder, OLD, log).run(4)
    ready = copied(folder, tmp_path / "ready")
    whole = RemoteFolder()
    forth(folder, whole, sink=str(log.parent))
    for point in range(0, whole.changes, 2):
        copied(ready, folder)
        with pytest.raises(Killed):
            forth(folder, RemoteFolder(point), sink=str(log.parent))
        lease_of(folder).unlink(missing_ok=True)
        with suppress(BadInput):
            cure(folder, sink=str(log.parent))
        query = ToyQuery(folder, log=log)
        query.run()
        assert query.output == expected(ROWS)
        numbers = sorted(int(each.name) for each in log.iterdir() if each.name.isdecimal())
        assert numbers == [*range(len(numbers))]


def begun_by_spark(folder: Path) -> None:
    last = (folder / "offsets" / "3").read_text()
    (folder / "offsets" / "4").write_text(offset_entry(last, NEW))
    (folder / "state" / "0" / "6").mkdir()
    (folder / "state" / "0" / "6" / "5.snapshot").write_text("{}")


def test_what_spark_has_begun_elsewhere_is_taken_out_killed_at_any_change(
    ready: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repairs, "require_stopped", lambda *_: None)
    begun_by_spark(ready)
    whole = RemoteFolder()
    done = repair(str(copied(ready, tmp_path / "whole")), whole)
    assert (done.batch, done.partitions) == (3, OLD)
    assert done.moved == ("state/0/6/5.snapshot", "offsets/4")
    for point in range(whole.changes):
        cut = copied(ready, tmp_path / "cut")
        with pytest.raises(Killed):
            repair(str(cut), RemoteFolder(point))
        lease_of(cut).unlink(missing_ok=True)  # its owner is this process, which is alive
        with suppress(BadInput):  # it was finished except for its lease
            repair(str(cut), RemoteFolder())
        goes_on(cut, OLD)


def test_the_log_of_a_sink_elsewhere_gets_the_entries_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repairs, "require_stopped", lambda *_: None)
    folder, log = tmp_path / "checkpoint", tmp_path / "out" / "_spark_metadata"
    ToyQuery(folder, OLD, log).run(4)
    forth(folder)
    ToyQuery(folder, log=log).run(1)
    assert repair_sink(str(folder), str(log.parent), RemoteFolder()) == (4,)
    assert repair_sink(str(folder), str(log.parent), RemoteFolder()) == ()


@pytest.mark.parametrize("location", ["s3n://bucket/cp", "abfss://x@y/z", "gs://bucket/cp"])
def test_an_object_store_promises_too_little(location: str) -> None:
    assert "nor on HDFS or S3 (s3a://): copy the checkpoint" in (refused_place(location) or "")


@pytest.mark.parametrize(
    "location", ["s3a://b/cp", "hdfs://host/cp", "viewfs://x/cp", "/cp", "file:/cp"]
)
def test_where_a_name_can_be_taken_once_it_is_allowed(location: str) -> None:
    assert refused_place(location) is None
