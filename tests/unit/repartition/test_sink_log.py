"""The log of a file sink gets an entry for a batch that it has not received."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.repartition.toy_query import ToyEngine, ToyQuery

from rheostat.errors import BadInput
from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.repartition.preflight import plan_of
from rheostat.repartition.repair import repair_sink
from rheostat.repartition.repartition_log import RepartitionLog
from rheostat.repartition.spark_repartition import repartition, undo
from rheostat.repartition.staging import SinkLog
from rheostat.storage.local_files import LocalFileSystem


def log_of(folder: Path, *names: str) -> Path:
    log = folder / "_spark_metadata"
    log.mkdir(parents=True)
    for name in names:
        (log / name).write_text(f'v1\n{{"path":"part-{name}"}}')
    return log


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    ToyQuery(tmp_path / "checkpoint", 4).run(4)
    return tmp_path / "checkpoint"


def to(checkpoint: Path, sink: Path) -> None:
    repartition(
        str(checkpoint), 7, lambda _: ToyEngine(), sink=str(sink), check_stopped=lambda *_: None
    )


def test_a_repartition_adds_a_sink_entry_and_its_undo_removes_it(
    checkpoint: Path, tmp_path: Path
) -> None:
    log = log_of(tmp_path / "out", "0", "1", "2", "3")
    to(checkpoint, tmp_path / "out")
    assert (log / "4").read_text() == "v1"
    undo(str(checkpoint), check_stopped=lambda *_: None)
    assert not (log / "4").exists()


def test_the_sink_of_another_query_is_rejected(checkpoint: Path, tmp_path: Path) -> None:
    log_of(tmp_path / "out", "0", "1")
    with pytest.raises(BadInput, match="newest batch is 1, that of the checkpoint is 3"):
        to(checkpoint, tmp_path / "out")
    with pytest.raises(BadInput, match="it has no _spark_metadata"):
        to(checkpoint, tmp_path / "nowhere")


def test_a_sink_named_only_on_resume_is_rejected(checkpoint: Path, tmp_path: Path) -> None:
    log_of(tmp_path / "out", "0", "1", "2", "3")
    RepartitionLog(str(checkpoint), LocalFileSystem()).begin(
        plan_of(read_checkpoint(str(checkpoint), LocalFileSystem()), 7), 1.0
    )
    with pytest.raises(BadInput, match="was started without --sink, not with"):
        to(checkpoint, tmp_path / "out")


def test_a_compaction_entry_contains_all_previous_entries(tmp_path: Path) -> None:
    log = log_of(tmp_path, *map(str, range(9)))
    assert SinkLog(LocalFileSystem(), str(tmp_path)).add_empty(9)
    lines = (log / "9.compact").read_text().splitlines()
    assert lines == ["v1", *(f'{{"path":"part-{n}"}}' for n in range(9))]


def test_a_later_compaction_starts_from_the_previous_one(tmp_path: Path) -> None:
    log = log_of(tmp_path, "3.compact", "7.compact", "8", "9", "10")
    assert SinkLog(LocalFileSystem(), str(tmp_path)).add_empty(11)
    lines = (log / "11.compact").read_text().splitlines()
    assert lines == ["v1", *(f'{{"path":"part-{n}"}}' for n in ("7.compact", "8", "9", "10"))]


@pytest.mark.parametrize(("compacted", "due"), [([], 9), ([9], 19), ([4, 9], 14), ([39], 49)])
def test_compaction_entries_are_written_when_spark_would_compact(
    tmp_path: Path, compacted: list[int], due: int
) -> None:
    names = [f"{number}.compact" for number in compacted]
    log = log_of(tmp_path, *names, str(due - 1))
    SinkLog(LocalFileSystem(), str(tmp_path)).add_empty(due)
    assert (log / f"{due}.compact").exists()


def test_existing_or_compacted_batches_need_no_entry(tmp_path: Path) -> None:
    log_of(tmp_path, "9.compact", "10")
    assert not SinkLog(LocalFileSystem(), str(tmp_path)).add_empty(4)
    assert not SinkLog(LocalFileSystem(), str(tmp_path)).add_empty(10)


def test_a_repartition_that_can_be_undone_is_not_repaired(checkpoint: Path, tmp_path: Path) -> None:
    repartition(str(checkpoint), 7, lambda _: ToyEngine(), check_stopped=lambda *_: None)
    log_of(tmp_path / "out", "0", "1", "2", "3")
    with pytest.raises(BadInput, match="no repartition in its logs after which"):
        repair_sink(str(checkpoint), str(tmp_path / "out"))


def test_a_gap_after_a_finished_repartition_is_repaired(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rheostat.repartition.repair.require_stopped", lambda *_: None)
    repartition(str(checkpoint), 7, lambda _: ToyEngine(), check_stopped=lambda *_: None)
    ToyQuery(checkpoint).run(2)
    log = log_of(tmp_path / "out", "0", "1", "2", "3", "5", "6")
    assert repair_sink(str(checkpoint), str(tmp_path / "out")) == (4,)
    assert (log / "4").read_text() == "v1"
    assert repair_sink(str(checkpoint), str(tmp_path / "out")) == ()
