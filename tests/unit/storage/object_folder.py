"""An object store, which is a folder here, and whose client can die between any two requests."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.unit.storage.remote_folder import RemoteFolder

from rheostat.storage.file_system import FileStatus

BUCKET = "s3a://bucket"


class ObjectFolder(RemoteFolder):
    """Names begin with ``s3a://bucket``. A move is a copy, which gets a time of its own, and a
    delete; a folder is deleted object by object.
    """

    def __init__(self, root: Path, dies_at: int | None = None) -> None:
        super().__init__(dies_at)
        self._root = root

    def _at(self, name: str) -> str:
        assert name.startswith(BUCKET), name
        return name.replace(BUCKET, str(self._root), 1)

    def status(self, name: str) -> FileStatus | None:
        return super().status(self._at(name))

    def names(self, folder: str) -> list[str]:
        return super().names(self._at(folder))

    def files_below(self, folder: str) -> Mapping[str, FileStatus]:
        return super().files_below(self._at(folder))

    def size(self, name: str) -> int | None:
        return super().size(self._at(name))

    def read_text(self, name: str) -> str | None:
        return super().read_text(self._at(name))

    def write(self, name: str, text: str) -> None:
        super().write(self._at(name), text)

    def create(self, name: str, text: str) -> bool:
        return super().create(self._at(name), text)

    def append(self, name: str, text: str) -> None:
        super().append(self._at(name), text)

    def move(self, source: str, target: str) -> None:
        self._change().make_folder(str(Path(self._at(target)).parent))
        shutil.copyfile(self._at(source), self._at(target))
        self.delete(source)

    def delete(self, name: str) -> None:
        inside = sorted(super().files_below(self._at(name)))
        for file in inside:
            super().delete(self._at(f"{name}/{file}"))
        super().delete(self._at(name))

    def download(self, folder: str, target: Path) -> None:
        super().download(self._at(folder), target)

    def upload(self, source: Path, name: str) -> None:
        super().upload(source, self._at(name))
