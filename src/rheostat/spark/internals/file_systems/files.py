"""Files of any file system that Spark reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rheostat.errors import BadInput
from rheostat.spark.internals.gateway import RAISED, Gateway, java_message


class Files:
    """Reads a checkpoint wherever it is, and writes and deletes small files of it.

    * Calls: Hadoop's public ``FileSystem`` with the session's own settings (``listStatus``,
      ``open``, ``getContentSummary``, ``delete``); Spark's ``CheckpointFileManager`` to write.
    * Without a file: nothing, or None.
    * Spark 3.5 to 4.3.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._jvm = gateway.jvm
        self._spark = gateway.spark

    def require(self, folder: str) -> None:
        """Raise BadInput with what the file system says if a folder cannot be listed."""
        try:
            path = self._path(folder)
            self._file_system(path).listStatus(path)
        except RAISED as fault:
            raise BadInput(f"{folder} cannot be read: {java_message(fault)}") from None

    def listing(self, folder: str) -> list[str]:
        """Return the names in a folder; none if it is not there."""
        try:
            path = self._path(folder)
            statuses = self._file_system(path).listStatus(path)
            return [str(status.getPath().getName()) for status in statuses]
        except RAISED:
            return []

    def bytes_in(self, folder: str) -> int | None:
        """Return the bytes below a folder (``getContentSummary``); None if it is not there."""
        try:
            path = self._path(folder)
            return int(self._file_system(path).getContentSummary(path).getLength())
        except RAISED:
            return None

    def text(self, file: str) -> str | None:
        """Return a small file's text; None if it is not there."""
        try:
            path = self._path(file)
            stream = self._file_system(path).open(path)
            try:
                return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()
        except RAISED:
            return None

    def write(self, file: str, text: str) -> None:
        """Write a small file as Spark writes its own: whole, or not at all."""
        path = self._path(file)
        streaming = self._jvm.org.apache.spark.sql.execution.streaming
        managers = streaming.checkpointing.CheckpointFileManager
        manager = managers.create(path.getParent(), self._hadoop())
        manager.mkdirs(path.getParent())
        stream = manager.createAtomic(path, True)
        stream.write(bytearray(text.encode()))
        stream.close()

    def delete(self, files: Iterable[str]) -> None:
        """Delete files; one that is not there is no fault."""
        for file in files:
            path = self._path(file)
            self._file_system(path).delete(path, False)

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(name)

    def _file_system(self, path: Any) -> Any:
        return path.getFileSystem(self._hadoop())

    def _hadoop(self) -> Any:
        return self._spark._jsparkSession.sessionState().newHadoopConf()
