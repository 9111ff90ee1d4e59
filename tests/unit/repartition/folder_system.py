"""A file system elsewhere, which is a folder here, and which can die at any change."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class Killed(BaseException):
    """The process is gone: nothing that comes later happens."""


class FolderSystem:
    """What ``HadoopSystem`` does, with the disk; from change ``dies_at`` on nothing changes."""

    def __init__(self, folder: Path, dies_at: int | None = None) -> None:
        self.root = str(folder)
        self.changes = 0
        self._dies_at = dies_at

    def status(self, name: object) -> Any:
        path = Path(str(name))
        if not path.exists():
            return None
        stat = path.stat()
        return SimpleNamespace(
            isFile=path.is_file,
            isDirectory=path.is_dir,
            getLen=lambda: stat.st_size,
            getModificationTime=lambda: stat.st_mtime_ns // 1_000_000,
        )

    def listing(self, name: object) -> list[str]:
        return [each.name for each in Path(str(name)).iterdir()]

    def written_below(self, name: object) -> dict[str, float]:
        root = Path(str(name))
        files = [each for each in root.rglob("*") if each.is_file()]
        return {each.relative_to(root).as_posix(): each.stat().st_mtime for each in files}

    def text(self, name: object) -> str:
        return Path(str(name)).read_text()

    def write(self, name: object, text: str) -> None:
        path = self._changed(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def rename(self, source: object, target: object, *, over: bool = False) -> bool:
        path = self._changed(target)
        if path.exists() and not over:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        Path(str(source)).replace(path)
        return True

    def delete(self, name: object) -> None:
        path = self._changed(name)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def touch(self, name: object, now_s: float) -> None:
        os.utime(self._changed(name), (now_s, now_s))

    def download(self, name: object, target: str) -> None:
        shutil.copytree(str(name), target)

    def upload(self, source: str, name: object) -> None:
        path = self._changed(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)

    def _changed(self, name: object) -> Path:
        if self._dies_at is not None and self.changes >= self._dies_at:
            raise Killed
        self.changes += 1
        return Path(str(name))
