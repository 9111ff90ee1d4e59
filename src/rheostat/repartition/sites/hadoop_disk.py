"""The changes that a repartition makes, on a file system of Hadoop's whose renames are one step."""

from __future__ import annotations

import time
from typing import Any

from rheostat.repartition.protocol.disk import Disk
from rheostat.spark.internals.file_systems.hadoop_system import HadoopSystem


class HadoopDisk(Disk):
    """``Disk`` elsewhere; its paths are ``RemotePath``. Bytes are there when a file is closed, so
    there is nothing to wait for.
    """

    def __init__(self, system: HadoopSystem) -> None:
        self._system = system

    def append(self, path: Any, line: str) -> None:
        """Add a line: the whole file is written beside it and takes its name."""
        before = path.read_text() if path.is_file() else ""
        fresh = path.with_name(f".{path.name}.rheostat.tmp")
        self._system.write(fresh, f"{before}{line}\n")
        self._system.rename(fresh, path, over=True)

    def take(self, path: Any, text: str) -> bool:
        """Write a file in one step; False, with nothing changed, where there is one."""
        fresh = path.with_name(f".{path.name}.rheostat.tmp")
        self._system.write(fresh, text)
        if self._system.rename(fresh, path):
            return True
        self._system.delete(fresh)
        return False

    def write_entry(self, path: Any, text: str) -> bool:
        """Write an entry of a checkpoint's log as ``take`` does."""
        return self.take(path, text)

    def remove(self, path: Any) -> None:
        """Delete a log's entry."""
        self._system.delete(path)

    def drop(self, path: Any) -> None:
        """Delete a file."""
        self._system.delete(path)

    def move(self, source: Any, target: Any) -> None:
        """Put a file in its place, in one step."""
        self._system.rename(source, target, over=True)

    def clear(self, folder: Any) -> None:
        """Delete a folder with all that is in it."""
        self._system.delete(folder)

    def touch(self, path: Any) -> None:
        """Renew a file's time of change."""
        self._system.touch(path, time.time())

    def flush(self) -> None:
        """Wait for nothing."""
