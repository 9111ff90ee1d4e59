"""A folder on any file system that Hadoop knows: HDFS, object stores, a disk."""

from __future__ import annotations

import time
from typing import Any

from rheostat.journal.remote_journal import NEW
from rheostat.spark.internals.gateway import as_os_error

_HFLUSH = "hflush"
_SECOND_MS = 1000
_ROLLED_BYTES = 192 * 1024
_STREAMED_BYTES = 1 << 40


class HadoopFolder:
    """Reads and writes small files of a folder, which is made when something is written.

    A file is extended by ``hflush`` where the file system has it (HDFS); elsewhere (object stores)
    it is written anew as a whole, and must therefore stay small. Every call raises OSError with the
    first line of what the file system says.

    * Calls: Hadoop's public ``FileSystem``: ``create``, ``delete``, ``exists``, ``getFileStatus``,
      ``isFile``, ``listStatus``, ``open``, ``rename``, ``setTimes``;
      ``FSDataOutputStream.hasCapability`` and ``hflush``.
    * Without them: OSError, and the journal stays in its local folder.
    * Spark 3.5 to 4.3.
    """

    def __init__(self, jvm: Any, uri: str, configuration: Any) -> None:
        self.uri = uri.rstrip("/")
        self._jvm = jvm
        self._hadoop_path = jvm.org.apache.hadoop.fs.Path
        self._configuration = configuration
        self._name, self._stream, self._written = "", None, ""
        self._streams: bool | None = None

    @property
    def most_bytes(self) -> int:
        """The size from which a file is too large to be extended."""
        return _STREAMED_BYTES if self._streams else _ROLLED_BYTES

    def sizes(self) -> dict[str, tuple[int, float]]:
        """Return the bytes of each file and the Unix time of its last change."""
        with as_os_error():
            path = self._path("")
            system = path.getFileSystem(self._configuration)
            if not system.exists(path):
                return {}
            return {
                str(status.getPath().getName()): (
                    int(status.getLen()),
                    int(status.getModificationTime()) / 1000,
                )
                for status in system.listStatus(path)
                if status.isFile()
            }

    def exists(self, name: str) -> bool:
        """Tell whether there is a file of this name."""
        with as_os_error():
            path = self._path(name)
            # Not exists(), which asks an object store for a folder of that name, too.
            return bool(path.getFileSystem(self._configuration).isFile(path))

    def text(self, name: str) -> str | None:
        """Return a file's text; None where there is none."""
        with as_os_error():
            path = self._path(name)
            system = path.getFileSystem(self._configuration)
            if not system.isFile(path):
                return None
            stream = system.open(path)
            try:
                return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()

    def write(self, name: str, text: str) -> None:
        """Write a file as a whole: who reads it sees this one or the one before; one that was cut
        off may have left it as ``NAME.new`` only.
        """
        # An object store shows a file once it is whole, and a rename there is a copy. Which kind
        # this is shows the first ``extend``.
        if not self._streams:
            self._write(name, text)
            return
        self._write(name + NEW, text)
        self._rename(name + NEW, name)

    def _write(self, name: str, text: str) -> None:
        with as_os_error():
            stream = self._created(name)
            try:
                stream.write(bytearray(text, "utf-8"))
            finally:
                stream.close()

    def extend(self, name: str, text: str) -> None:
        """Append to the file that was begun last, or begin another one."""
        if name != self._name:
            self.close()
            with as_os_error():
                stream = self._created(name)
                self._streams = bool(stream.hasCapability(_HFLUSH))
                self._name, self._stream, self._written = name, stream, ""
                if not self._streams:
                    stream.close()
                    self._stream = None
        if self._stream is None:
            self._written += text
            self._write(name, self._written)
            return
        with as_os_error():
            self._stream.write(bytearray(text, "utf-8"))
            self._stream.hflush()

    def create(self, name: str, text: str) -> bool:
        """Write a file that is not there; False, with nothing changed, where there is one."""
        try:
            with as_os_error():
                path = self._path(name)
                stream = path.getFileSystem(self._configuration).create(path, False)
                stream.write(bytearray(text, "utf-8"))
                stream.close()
        except OSError as fault:
            if "AlreadyExists" not in str(fault):
                raise
            return False
        return True

    def touch(self, name: str, text: str) -> None:
        """Set the time of a file's last change to now; ``text`` is what it holds."""
        with as_os_error():
            path = self._path(name)
            system = path.getFileSystem(self._configuration)
            now_ms = int(time.time() * 1000)
            system.setTimes(path, now_ms, -1)
            if int(system.getFileStatus(path).getModificationTime()) >= now_ms - _SECOND_MS:
                return
        self._write(name, text)  # an object store keeps the time of the last write only

    def inside(self, name: str) -> HadoopFolder:
        """Return a folder within this one."""
        return HadoopFolder(self._jvm, f"{self.uri}/{name}", self._configuration)

    def _rename(self, name: str, other: str) -> None:
        with as_os_error():
            source, target = self._path(name), self._path(other)
            system = source.getFileSystem(self._configuration)
            system.delete(target, False)
            if not system.rename(source, target):
                raise OSError(f"{target.toString()} cannot be written")

    def delete(self, name: str) -> None:
        """Delete a file; nothing where there is none."""
        with as_os_error():
            path = self._path(name)
            path.getFileSystem(self._configuration).delete(path, False)

    def close(self) -> None:
        """End the file that was begun last."""
        stream, self._name, self._stream, self._written = self._stream, "", None, ""
        if stream is not None:
            with as_os_error():
                stream.close()

    def _created(self, name: str) -> Any:
        path = self._path(name)
        return path.getFileSystem(self._configuration).create(path, True)

    def _path(self, name: str) -> Any:
        return self._hadoop_path(f"{self.uri}/{name}" if name else self.uri)


def hadoop_folder(spark: Any, uri: str) -> HadoopFolder:
    """Return a folder as the JVM of a session sees it, with the application's settings."""
    context = spark.sparkContext
    return HadoopFolder(context._jvm, uri, context._jsc.hadoopConfiguration())


def own_folder(uri: str) -> HadoopFolder:
    """Return a folder as a JVM of its own sees it, with the settings of ``spark-defaults.conf`` and
    ``HADOOP_CONF_DIR``: 2 s for its start.
    """
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    jvm: Any = SparkContext._jvm
    return HadoopFolder(jvm, uri, jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf())
