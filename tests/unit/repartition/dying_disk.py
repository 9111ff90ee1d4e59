"""A disk whose process is killed at a chosen change: before it or in the middle of it."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import NoReturn

from rheostat.repartition.protocol.disk import Disk

MOMENTS = ("before", "amid")


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


class DyingDisk(Disk):
    """Kills its process at the change of number ``point`` (from 0), at one of ``MOMENTS``."""

    def __init__(self, point: int, moment: str) -> None:
        self.left = point
        self._moment = moment

    def count(self) -> bool:
        """Count a change and tell whether the process is to be killed amid it."""
        self.left -= 1
        if self.left == -1 and self._moment == "before":
            die()
        return self.left == -1

    def append(self, path: Path, line: str) -> None:
        if self.count():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                file.write(line[: len(line) // 2])
            die()
        super().append(path, line)

    def take(self, path: Path, text: str) -> bool:
        if self.count():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(f".{path.name}.rheostat.tmp").write_text(text[: len(text) // 2])
            die()
        return super().take(path, text)

    def remove(self, path: Path) -> None:
        if self.count():
            path.unlink()
            die()
        super().remove(path)

    def drop(self, path: Path) -> None:
        if self.count():
            path.unlink()
            die()
        super().drop(path)

    def move(self, source: Path, target: Path) -> None:
        if self.count():
            target.parent.mkdir(parents=True, exist_ok=True)
            die()
        super().move(source, target)

    def make(self, folder: Path) -> None:
        if self.count():
            die()
        super().make(folder)

    def mirror(self, source: Path, target: Path) -> None:
        if self.count():
            shutil.copytree(source, target.with_name(f"{target.name}.part"))
            die()
        super().mirror(source, target)

    def clear(self, folder: Path) -> None:
        if self.count():
            shutil.rmtree(folder / "commits", ignore_errors=True)
            die()
        super().clear(folder)

    def flush(self) -> None:
        """The whole machine's disks need not wait for a test."""
