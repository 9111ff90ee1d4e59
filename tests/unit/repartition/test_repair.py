"""Checkpoints after Spark's own repartition, and their repair."""

import json
import os
from pathlib import Path

import pytest
from tests.unit.repartition.toy_query import ROWS, Refused, ToyEngine, ToyQuery, expected

from rheostat.errors import BadInput
from rheostat.repartition import repair as repairs
from rheostat.repartition.repair import repair
from rheostat.repartition.repartition_log import offset_entry
from rheostat.repartition.spark_repartition import repartition
from rheostat.repartition.state_engine import Progress, Rewrite, Rewritten


@pytest.fixture(autouse=True)
def _stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairs, "require_stopped", lambda *_: None)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    ToyQuery(tmp_path / "checkpoint").run(3)
    return tmp_path / "checkpoint"


def begin_as_spark(checkpoint: Path, batch: int = 3, copy_of: int = 2) -> None:
    last = (checkpoint / "offsets" / str(copy_of)).read_text()
    (checkpoint / "offsets" / str(batch)).write_text(offset_entry(last, 7))
    (checkpoint / "offsets" / f".{batch}.crc").write_bytes(b"crc")


def assert_completes(checkpoint: Path) -> None:
    ToyQuery(checkpoint).run()
    assert ToyQuery(checkpoint).partitions == 4
    assert ToyQuery(checkpoint).output == expected(ROWS)


def test_a_repartition_that_spark_refused_is_repaired(checkpoint: Path) -> None:
    begin_as_spark(checkpoint)
    with pytest.raises(Refused):
        ToyQuery(checkpoint).run()
    done = repair(str(checkpoint))
    assert (done.batch, done.partitions) == (2, 4)
    assert not (checkpoint / "offsets" / ".3.crc").exists()
    assert_completes(checkpoint)


def test_a_repartition_killed_while_writing_state_is_repaired(checkpoint: Path) -> None:
    begin_as_spark(checkpoint)
    for part in ("0", "5"):
        folder = checkpoint / "state" / "0" / part
        folder.mkdir(exist_ok=True)
        (folder / "4.snapshot").write_text(json.dumps({"key-1": 99}))
        (folder / ".4.snapshot.crc").write_bytes(b"crc")
    done = repair(str(checkpoint))
    assert "state/0/5/4.snapshot" in done.moved
    assert (Path(done.attic) / "state" / "0" / "5" / "4.snapshot").is_file()
    assert_completes(checkpoint)


@pytest.mark.parametrize("half", [False, True])
def test_a_repartition_that_skipped_an_uncommitted_batch_is_repaired(
    checkpoint: Path, half: bool
) -> None:
    ToyQuery(checkpoint).run(1)
    for part in range(1 if half else 0, 4):
        (checkpoint / "state" / "0" / str(part) / "4.delta").unlink()
    (checkpoint / "sink" / "3").unlink()
    begin_as_spark(checkpoint, batch=4, copy_of=2)  # commits/3 is the empty commit
    done = repair(str(checkpoint))
    assert (done.batch, done.partitions) == (2, 4)
    assert not (checkpoint / "commits" / "3").exists()
    assert_completes(checkpoint)


def test_a_skipped_batch_with_complete_state_but_no_output_is_repaired(checkpoint: Path) -> None:
    ToyQuery(checkpoint).run(1)
    (checkpoint / "sink" / "3").unlink()
    for part in range(4):
        os.utime(checkpoint / "state" / "0" / str(part) / "4.delta", (1, 1))
    begin_as_spark(checkpoint, batch=4, copy_of=2)
    assert repair(str(checkpoint)).batch == 2
    assert_completes(checkpoint)


def test_a_checkpoint_that_needs_no_repair_is_unchanged(checkpoint: Path) -> None:
    with pytest.raises(BadInput, match="its newest batch 2 is committed"):
        repair(str(checkpoint))
    (checkpoint / "commits" / "2").unlink()
    with pytest.raises(BadInput, match="batch 2 is the query's own and not committed"):
        repair(str(checkpoint))
    assert_completes(checkpoint)


def test_our_own_unfinished_repartition_is_not_repaired(checkpoint: Path) -> None:
    class Stopped(ToyEngine):
        def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        repartition(str(checkpoint), 7, lambda _: Stopped(), check_stopped=lambda *_: None)
    begin_as_spark(checkpoint)
    with pytest.raises(BadInput, match="is Rheostat's own"):
        repair(str(checkpoint))
