"""A disk whose process is killed at a chosen change: before it or during it."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import NoReturn

from rheostat.storage.local_files import LocalFileSystem

MOMENTS = ("before", "amid")


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


class DyingDisk(LocalFileSystem):
    """Kills its process at the change of number ``point`` (from 0), at one of ``MOMENTS``."""

    def __init__(self, point: int, moment: str) -> None:
        super().__init__()
        self.left = point
        self._moment = moment

    def count(self) -> bool:
        """Count a change and return whether to kill the process during it."""
        self.left -= 1
        if self.left == -1 and self._moment == "before":
            die()
        return self.left == -1

    def append(self, name: str, text: str) -> None:
        if self.count():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            with Path(name).open("a") as file:
                file.write(text[: len(text) // 2])
            die()
        super().append(name, text)

    def create(self, name: str, text: str) -> bool:
        if self.count():
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(f".{path.name}.rheostat.tmp").write_text(text[: len(text) // 2])
            die()
        return super().create(name, text)

    def delete(self, name: str) -> None:
        if self.count():
            if Path(name).is_dir():
                shutil.rmtree(Path(name, "commits"), ignore_errors=True)
            else:
                Path(name).unlink(missing_ok=True)
            die()
        super().delete(name)

    def move(self, source: str, target: str) -> None:
        if self.count():
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            die()
        super().move(source, target)

    def make_folder(self, name: str) -> None:
        if self.count():
            die()
        super().make_folder(name)

    def link_tree(self, source: str, target: str) -> None:
        if self.count():
            shutil.copytree(source, f"{target}.part")
            die()
        super().link_tree(source, target)

    def flush(self) -> None:
        """Do nothing: a test need not flush the disks of the computer."""
