"""A repartition that is interrupted in any phase, then resumed, undone or overtaken, takes every
row of its table.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest
from tests.unit.protocols.recording_table import RecordingTable
from tests.unit.repartition.dying_disk import DyingDisk
from tests.unit.repartition.kill_points import QuickDisk, to_new
from tests.unit.repartition.toy_query import Refused, ToyEngine, ToyQuery, copy_checkpoint

from rheostat.errors import RheostatError
from rheostat.protocols.repartition import REPARTITION
from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.repartition.repartition_log import RepartitionLog
from rheostat.repartition.repartition_runner import RepartitionRunner
from rheostat.repartition.state_engine import StateVersion


class Interrupted(BaseException):
    """Replaces a kill of the process at this point."""


def interrupt() -> NoReturn:
    raise Interrupted


def change_entries(checkpoint: Path, change: str) -> None:
    """Change the offset log at the batch of the repartition, as another writer might."""
    lock = checkpoint / "offsets" / "3"
    if change == "overtaken":
        lock.write_text("another batch")
    else:
        text = lock.read_text() if lock.exists() else ""
        lock.unlink(missing_ok=True)
        if change == "gone on":
            for batch in (4, 5):
                (lock.parent / str(batch)).write_text(text)


def repair(
    checkpoint: Path, source: StateVersion, *, back: bool, engine: ToyEngine | None = None
) -> None:
    disk = QuickDisk()
    state = RepartitionLog(str(checkpoint), disk).read()
    assert state is not None
    runner = RepartitionRunner(str(checkpoint), state, files=disk)
    if back:
        runner.rollback("a test")
    else:
        runner.run(engine or ToyEngine(), source)


def test_every_table_row_is_covered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = RecordingTable(REPARTITION)
    monkeypatch.setattr("rheostat.repartition.repartition_runner.REPARTITION", table)
    monkeypatch.setattr("tests.unit.repartition.dying_disk.die", interrupt)
    ToyQuery(tmp_path / "ready", 4).run(3)
    source = read_checkpoint(str(tmp_path / "ready"), QuickDisk()).state
    phases: set[str] = set()
    for point in range(40):
        stopped = copy_checkpoint(tmp_path / "ready", tmp_path / str(point))
        with suppress(Interrupted):
            to_new(stopped, DyingDisk(point, "before"))
        state = RepartitionLog(str(stopped), QuickDisk()).read()
        if state is None or state.phase in phases:
            continue
        phases.add(state.phase)
        for change in ("none", "query", "free", "overtaken", "gone on"):
            for back in (False, True):
                checkpoint = copy_checkpoint(stopped, tmp_path / f"{point}-{change}-{back}")
                if change == "query":
                    with suppress(Refused):
                        ToyQuery(checkpoint).run(1)
                elif change != "none":
                    change_entries(checkpoint, change)
                with suppress(RheostatError):
                    repair(checkpoint, source, back=back)
        if state.phase == "begun":
            with suppress(RheostatError):
                repair(
                    copy_checkpoint(stopped, tmp_path / "lost"),
                    source,
                    back=False,
                    engine=ToyEngine(lose=1),
                )
        if state.phase == "committed":
            RepartitionLog(str(stopped), QuickDisk()).note("withdrawing", 1.0)
            change_entries(stopped, "gone on")
            repair(stopped, source, back=True)
    assert table.missing() == set()
