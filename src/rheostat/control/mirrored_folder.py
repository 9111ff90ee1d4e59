"""A local copy of journals on HDFS or in an object store, for reading."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from rheostat.storage.file_system import FileStatus, FileSystem

_LOOK_S = 5.0


class MirroredFolder:
    """Keeps ``folder`` as a copy of ``place`` on another file system, which is never written.

    Unchanged files are not read again, except the newest segment: on HDFS, the reported size of an
    open file lags behind its content.
    """

    def __init__(
        self,
        files: FileSystem,
        place: str,
        folder: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._files, self._place, self._folder = files, place.rstrip("/"), folder
        self._copied: dict[str, FileStatus] = {}
        self._looked_s = float("-inf")
        self._clock = clock
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Copy changed files, at most every five seconds, from any thread. Raises StorageError if
        the file system does not answer.
        """
        with self._lock:
            if self._clock() - self._looked_s >= _LOOK_S:
                self._look()

    def _look(self) -> None:
        files = self._files.files_below(self._place)
        names = [name for name in files if name.endswith((".json", ".jsonl", "STOP"))]
        open_ones = {str(Path(name).parent): name for name in sorted(names) if "segment-" in name}
        for name in names:
            if self._copied.get(name) != files[name] or name in open_ones.values():
                self._copy(name, files[name])
        for name in self._copied.keys() - files.keys():
            (self._folder / name).unlink(missing_ok=True)
            del self._copied[name]
        self._looked_s = self._clock()

    def _copy(self, name: str, status: FileStatus) -> None:
        text = self._files.read_text(f"{self._place}/{name}")
        if text is None:
            return  # retention has deleted it in the meantime
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self._copied[name] = status
