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


def begun_by_spark(checkpoint: Path, batch: int = 3, copy_of: int = 2) -> None:
    last = (checkpoint / "offsets" / str(copy_of)).read_text()
    (checkpoint / "offsets" / str(batch)).write_text(offset_entry(last, 7))
    (checkpoint / "offsets" / f".{batch}.crc").write_bytes(b"crc")


def goes_on(checkpoint: Path) -> None:
    ToyQuery(checkpoint).run()
    assert ToyQuery(checkpoint).partitions == 4
    assert ToyQuery(checkpoint).output == expected(ROWS)


def test_one_that_spark_has_refused_after_it_wrote_the_offset_log(checkpoint: Path) -> None:
    begun_by_spark(checkpoint)
    with pytest.raises(Refused):
        ToyQuery(checkpoint).run()
    done = repair(str(checkpoint))
    assert (done.batch, done.partitions) == (2, 4)
    assert not (checkpoint / "offsets" / ".3.crc").exists()
    goes_on(checkpoint)


def test_one_that_was_killed_with_half_of_its_state_written(checkpoint: Path) -> None:
    begun_by_spark(checkpoint)
    for part in ("0", "5"):
        folder = checkpoint / "state" / "0" / part
        folder.mkdir(exist_ok=True)
        (folder / "4.snapshot").write_text(json.dumps({"key-1": 99}))
        (folder / ".4.snapshot.crc").write_bytes(b"crc")
    done = repair(str(checkpoint))
    assert "state/0/5/4.snapshot" in done.moved
    assert (Path(done.attic) / "state" / "0" / "5" / "4.snapshot").is_file()
    goes_on(checkpoint)


@pytest.mark.parametrize("half", [False, True])
def test_one_that_has_skipped_a_batch_that_was_not_committed(checkpoint: Path, half: bool) -> None:
    ToyQuery(checkpoint).run(1)
    for part in range(1 if half else 0, 4):
        (checkpoint / "state" / "0" / str(part) / "4.delta").unlink()
    (checkpoint / "sink" / "3").unlink()
    begun_by_spark(checkpoint, batch=4, copy_of=2)  # commits/3 is the empty commit
    done = repair(str(checkpoint))
    assert (done.batch, done.partitions) == (2, 4)
    assert not (checkpoint / "commits" / "3").exists()
    goes_on(checkpoint)


def test_a_skipped_batch_whose_state_is_whole_and_whose_sink_is_not(checkpoint: Path) -> None:
    ToyQuery(checkpoint).run(1)
    (checkpoint / "sink" / "3").unlink()
    for part in range(4):
        os.utime(checkpoint / "state" / "0" / str(part) / "4.delta", (1, 1))
    begun_by_spark(checkpoint, batch=4, copy_of=2)
    assert repair(str(checkpoint)).batch == 2
    goes_on(checkpoint)


def test_what_needs_no_repair_is_left_alone(checkpoint: Path) -> None:
    with pytest.raises(BadInput, match="its newest batch 2 is committed"):
        repair(str(checkpoint))
    (checkpoint / "commits" / "2").unlink()
    with pytest.raises(BadInput, match="batch 2 is the query's own and not committed"):
        repair(str(checkpoint))
    goes_on(checkpoint)


def test_our_own_unfinished_repartition_is_not_repaired_but_ended(checkpoint: Path) -> None:
    class Stopped(ToyEngine):
        def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        repartition(str(checkpoint), 7, lambda _: Stopped(), check_stopped=lambda *_: None)
    begun_by_spark(checkpoint)
    with pytest.raises(BadInput, match="is Rheostat's own"):
        repair(str(checkpoint))
