"""Kills a repartition of a real Spark checkpoint, and its rollback, at every change of a file.

It is a separate process without a JVM: every point is a fork of it that ends by SIGKILL.
``ROOT/ready`` is Spark's checkpoint, ``ROOT/done`` the same with its new number of partitions,
``ROOT/undone`` after the rollback. Each point is resumed and rolled back, and must then equal one
of the three, file by file. Some are kept for a later run of Spark. It prints one JSON line per
point.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from functools import partial
from pathlib import Path

from tests.e2e.repartition.recorded_state import RecordedState
from tests.unit.repartition.dying_disk import MOMENTS, DyingDisk
from tests.unit.repartition.kill_points import QuickDisk, is_killed, phase_of

from rheostat.errors import BadInput
from rheostat.repartition.spark_repartition import repartition, undo
from rheostat.storage.local_files import LocalFileSystem

NEW = 5


def forward(done: Path, folder: Path, disk: LocalFileSystem) -> None:
    def wrote() -> None:
        if isinstance(disk, DyingDisk) and disk.count():
            os.kill(os.getpid(), 9)

    repartition(
        str(folder / "checkpoint"),
        NEW,
        lambda _: RecordedState(done / "checkpoint", wrote),
        files=disk,
        check_stopped=lambda *_: None,
    )


def back(_: Path, folder: Path, disk: LocalFileSystem) -> None:
    undo(str(folder / "checkpoint"), files=disk, check_stopped=lambda *_: None)


def contents(folder: Path) -> dict[str, bytes]:
    """Return all that Spark reads of a checkpoint, without checksums and without incomplete
    entries, whose names begin with a dot.
    """
    checkpoint = folder / "checkpoint"
    return {
        str(path.relative_to(checkpoint)): path.read_bytes()
        for log in ("offsets", "commits", "state")
        for path in sorted((checkpoint / log).rglob("*"))
        if path.is_file() and not path.name.startswith(".") and path.suffix != ".crc"
    }


def copied(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(source, target))


def recovery_outcome(cut: Path, target: Path, root: Path, to_new: bool) -> str:
    """Resume or roll back, and return which of the three checkpoints the result equals."""
    folder = copied(cut, target)
    try:
        (forward if to_new else back)(root / "done", folder, QuickDisk())
    except BadInput as nothing:  # the kill was before the journal existed, or after the end
        message = str(nothing)
        assert "no repartition" in message or "has now" in message, message
    content = contents(folder)
    for name in ("ready", "done"):
        if content == contents(root / name):
            return name
    raise AssertionError(f"{folder} is neither what it was nor what it was to be")


def main(root: Path, keep_every: int) -> None:
    number = 0
    for way, start, work in (("forth", "ready", forward), ("back", "done", back)):
        for moment in MOMENTS:
            point = 0
            while True:
                cut = copied(root / start, root / "cut")
                if not is_killed(partial(work, root / "done", cut), point, moment):
                    break
                outcome = {"way": way, "moment": moment, "phase": phase_of(cut / "checkpoint")}
                for recovery in ("resumed", "rolled back") if way == "forth" else ("rolled back",):
                    kept = root / "kept" / f"{number:03}-{recovery}"
                    outcome[recovery] = recovery_outcome(cut, kept, root, recovery == "resumed")
                    if number % keep_every:
                        shutil.rmtree(kept)
                    number += 1
                sys.stdout.write(json.dumps(outcome) + "\n")
                point += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
