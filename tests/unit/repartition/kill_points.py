"""Kills a repartition of the toy query, and its rollback, at every change of a file, and repairs
the checkpoint.

It is a separate process: every point is a fork of it that ends by SIGKILL. It prints a JSON line
per point, and fails if a checkpoint was lost.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.unit.repartition.dying_disk import MOMENTS, DyingDisk
from tests.unit.repartition.toy_query import (
    ROWS,
    Refused,
    ToyEngine,
    ToyQuery,
    copy_checkpoint,
    expected,
)

from rheostat.errors import BadInput
from rheostat.repartition.repartition_log import RepartitionLog
from rheostat.repartition.spark_repartition import repartition, undo
from rheostat.storage.local_files import LocalFileSystem

OLD, NEW = 4, 7


class QuickDisk(LocalFileSystem):
    def flush(self) -> None:
        pass


def to_new(checkpoint: Path, disk: LocalFileSystem) -> None:
    count_write = disk.count if isinstance(disk, DyingDisk) else lambda: None
    repartition(
        str(checkpoint),
        NEW,
        lambda _: ToyEngine(lambda: _die_if(count_write())),
        files=disk,
        check_stopped=lambda *_: None,
    )


def _die_if(last: object) -> None:
    if last:
        os.kill(os.getpid(), 9)


def to_old(checkpoint: Path, disk: LocalFileSystem) -> None:
    undo(str(checkpoint), files=disk, check_stopped=lambda *_: None)


def is_killed(work: Callable[[LocalFileSystem], None], point: int, moment: str) -> bool:
    """Run ``work`` in a fork that is killed at the point; return False if it ended before."""
    child = os.fork()
    if child == 0:
        try:
            work(DyingDisk(point, moment))
        except BaseException as error:
            sys.stderr.write(f"the work failed by itself: {error!r}\n")
            os._exit(2)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def run_to_end(checkpoint: Path, partitions: int | None) -> str:
    """Run the query to its end and compare its output; return a message if it does not start."""
    query = ToyQuery(checkpoint)
    try:
        query.run()
    except Refused:
        assert partitions is None, f"refused after the cure: {checkpoint}"
        return "refused"
    assert query.output == expected(ROWS), f"the output is wrong: {checkpoint}"
    assert partitions in (None, query.partitions), f"{query.partitions} at {checkpoint}"
    return str(query.partitions)


def repair_and_run(
    interrupted: Path, folder: Path, cure: Callable[[Path, LocalFileSystem], None], partitions: int
) -> str:
    checkpoint = copy_checkpoint(interrupted, folder)
    try:
        cure(checkpoint, QuickDisk())
    except BadInput as error:  # the kill was before the journal existed, or after the end
        message = str(error)
        assert "no repartition" in message or "has now" in message, message
        return run_to_end(checkpoint, OLD if "no repartition" in message else NEW)
    return run_to_end(checkpoint, partitions)


def repair_late_and_run(
    interrupted: Path, folder: Path, cure: Callable[[Path, LocalFileSystem], None]
) -> str:
    """Run two batches of the query before the repair, as a supervisor that restarts it would."""
    checkpoint = copy_checkpoint(interrupted, folder)
    query = ToyQuery(checkpoint)
    try:
        query.run(2)
    except Refused:
        return "refused"
    partitions = query.partitions
    with suppress(BadInput):  # there is nothing to undo, or the query has continued
        cure(checkpoint, QuickDisk())
    return run_to_end(checkpoint, partitions)


def phase_of(checkpoint: Path) -> str:
    state = RepartitionLog(str(checkpoint), LocalFileSystem()).read()
    return state.phase if state else "asked"


def main(root: Path) -> None:
    ready = root / "ready"
    ToyQuery(ready, OLD).run(4)
    done = copy_checkpoint(ready, root / "done")
    to_new(done, QuickDisk())
    for way, start, work in (("forth", ready, to_new), ("back", done, to_old)):
        for moment in MOMENTS:
            point = 0
            while True:
                interrupted = copy_checkpoint(start, root / "cut")
                if not is_killed(partial(work, interrupted), point, moment):
                    break
                outcomes = {
                    "way": way,
                    "point": point,
                    "moment": moment,
                    "phase": phase_of(interrupted),
                    "started at once": run_to_end(copy_checkpoint(interrupted, root / "now"), None),
                    "rolled back": repair_and_run(interrupted, root / "back", to_old, OLD),
                }
                if way == "forth":
                    outcomes["resumed"] = repair_and_run(interrupted, root / "forth", to_new, NEW)
                outcomes["rolled back late"] = repair_late_and_run(
                    interrupted, root / "late", to_old
                )
                sys.stdout.write(json.dumps(outcomes) + "\n")
                point += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]))
