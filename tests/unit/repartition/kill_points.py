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
from tests.unit.repartition.toy_query import ROWS, Refused, ToyEngine, ToyQuery, copied, expected

from rheostat.errors import BadInput
from rheostat.repartition.repartition_log import RepartitionLog
from rheostat.repartition.spark_repartition import repartition, undo
from rheostat.storage.local_files import LocalFileSystem

OLD, NEW = 4, 7


class QuickDisk(LocalFileSystem):
    def flush(self) -> None:
        pass


def to_new(checkpoint: Path, disk: LocalFileSystem) -> None:
    wrote = disk.count if isinstance(disk, DyingDisk) else lambda: None
    repartition(
        str(checkpoint),
        NEW,
        lambda _: ToyEngine(lambda: _died(wrote())),
        files=disk,
        check_stopped=lambda *_: None,
    )


def _died(last: object) -> None:
    if last:
        os.kill(os.getpid(), 9)


def to_old(checkpoint: Path, disk: LocalFileSystem) -> None:
    undo(str(checkpoint), files=disk, check_stopped=lambda *_: None)


def killed(work: Callable[[LocalFileSystem], None], point: int, moment: str) -> bool:
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


def goes_on(checkpoint: Path, partitions: int | None) -> str:
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


def cured(
    cut: Path, folder: Path, cure: Callable[[Path, LocalFileSystem], None], partitions: int
) -> str:
    checkpoint = copied(cut, folder)
    try:
        cure(checkpoint, QuickDisk())
    except BadInput as nothing:  # the kill was before the journal existed, or after the end
        said = str(nothing)
        assert "no repartition" in said or "has now" in said, said
        return goes_on(checkpoint, OLD if "no repartition" in said else NEW)
    return goes_on(checkpoint, partitions)


def cured_late(cut: Path, folder: Path, cure: Callable[[Path, LocalFileSystem], None]) -> str:
    """Run two batches of the query before the repair, as a supervisor that restarts it would."""
    checkpoint = copied(cut, folder)
    query = ToyQuery(checkpoint)
    try:
        query.run(2)
    except Refused:
        return "refused"
    partitions = query.partitions
    with suppress(BadInput):  # there is nothing to undo, or the query has continued
        cure(checkpoint, QuickDisk())
    return goes_on(checkpoint, partitions)


def phase_of(checkpoint: Path) -> str:
    story = RepartitionLog(str(checkpoint), LocalFileSystem()).read()
    return story.phase if story else "asked"


def main(root: Path) -> None:
    ready = root / "ready"
    ToyQuery(ready, OLD).run(4)
    done = copied(ready, root / "done")
    to_new(done, QuickDisk())
    for way, start, work in (("forth", ready, to_new), ("back", done, to_old)):
        for moment in MOMENTS:
            point = 0
            while True:
                cut = copied(start, root / "cut")
                if not killed(partial(work, cut), point, moment):
                    break
                found = {
                    "way": way,
                    "point": point,
                    "moment": moment,
                    "phase": phase_of(cut),
                    "started at once": goes_on(copied(cut, root / "now"), None),
                    "rolled back": cured(cut, root / "back", to_old, OLD),
                }
                if way == "forth":
                    found["resumed"] = cured(cut, root / "forth", to_new, NEW)
                found["rolled back late"] = cured_late(cut, root / "late", to_old)
                sys.stdout.write(json.dumps(found) + "\n")
                point += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]))
