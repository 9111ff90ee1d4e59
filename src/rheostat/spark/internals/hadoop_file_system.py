"""The files of every file system that Hadoop supports: HDFS, object stores, local disks."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from rheostat.spark.internals.gateway import RAISED, Gateway, java_message
from rheostat.storage.file_system import (
    FileStatus,
    StorageError,
    missing_connector,
    moves_in_one_step,
)

_T = TypeVar("_T")
_REWRITTEN_BYTES = 192 * 1024
_STREAMED_BYTES = 1 << 40
_MISSING = "FileNotFoundException"
_TAKEN = ("AlreadyExists", "RemoteFileChangedException")
"""The exceptions for an existing file, when it is opened or conditionally closed."""

_NO_CONNECTOR = ("ClassNotFoundException", "No FileSystem for scheme")

_CONDITIONAL = "fs.option.create.conditional.overwrite"
"""S3A writes with If-None-Match (Hadoop 3.4.2 and later); others ignore the option."""


_UNPROBED = "fs.s3a.create.performance"
"""S3A writes with one request, without a look whether a folder has this name."""


class HadoopFileSystem:
    """Implements the port ``FileSystem``; ``configuration`` returns Hadoop's settings.

    A new file is appended to by ``hflush`` where the file system has it (HDFS). Elsewhere, and for
    an existing file, ``append`` replaces the file, which must therefore stay small.

    * Calls: Hadoop's public ``FileSystem`` (``copyFromLocalFile``, ``copyToLocalFile``,
      ``create``, ``createFile``, ``delete``, ``getContentSummary``, ``getFileStatus``,
      ``listFiles``, ``listStatus``, ``makeQualified``, ``mkdirs``, ``open``, ``rename``);
      ``FileContext.rename``; ``FSDataOutputStream.hasCapability`` and ``hflush``;
      ``VersionInfo.getVersion``.
    * Without them: StorageError; a journal stays in its local folder.
    * Spark 3.5 to 4.3.
    """

    def __init__(self, jvm: Any, configuration: Callable[[], Any]) -> None:
        self._jvm = jvm
        self._fs = jvm.org.apache.hadoop.fs
        self._configuration = configuration
        self._suffix = f"{uuid.uuid4().hex[:12]}.rheostat.tmp"
        self._name, self._stream, self._text = "", None, ""

    @property
    def append_limit_bytes(self) -> int:
        """The size in bytes above which a file should not be appended to."""
        return _REWRITTEN_BYTES if self._stream is None else _STREAMED_BYTES

    @property
    def hadoop_version(self) -> str:
        """The version of Hadoop's client, which its connectors must have, too."""
        return str(self._jvm.org.apache.hadoop.util.VersionInfo.getVersion())

    def status(self, name: str) -> FileStatus | None:
        """Return the status of a file or folder; None if it does not exist."""
        with self._errors(name, "read"):
            system, path = self._at(name)
            return _unless_missing(lambda: _status(system.getFileStatus(path)))

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; an empty list if it does not exist."""
        with self._errors(folder, "read"):
            system, path = self._at(folder)
            files = _unless_missing(lambda: system.listStatus(path)) or ()
            return sorted(str(file.getPath().getName()) for file in files)

    def files_below(self, folder: str) -> dict[str, FileStatus]:
        """Return all files below a folder by their names relative to it."""
        if self.status(folder) is None:
            return {}
        with self._errors(folder, "read"):
            system, path = self._at(folder)
            top, below = f"{system.makeQualified(path).toString()}/", {}
            files = system.listFiles(path, True)
            while files.hasNext():
                file = files.next()
                below[str(file.getPath().toString()).removeprefix(top)] = _status(file)
            return below

    def size(self, name: str) -> int | None:
        """Return the bytes of a file, or of all files below a folder; None if it does not exist."""
        with self._errors(name, "read"):
            system, path = self._at(name)
            return _unless_missing(lambda: int(system.getContentSummary(path).getLength()))

    def read_text(self, name: str) -> str | None:
        """Return the text of a file (UTF-8); None if it does not exist."""
        with self._errors(name, "read"):
            system, path = self._at(name)
            stream = _unless_missing(lambda: system.open(path))
            if stream is None:
                return None
            try:
                return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()

    def write(self, name: str, text: str) -> None:
        """Write a file, replacing an existing one."""
        with self._errors(name):
            if not moves_in_one_step(name):
                self._write(name, text)  # an object store shows only complete files
                return
            fresh = self._fresh(name)
            self._write(fresh, text)
            self._rename(fresh, name, "OVERWRITE")

    def create(self, name: str, text: str) -> bool:
        """Write a file unless it exists; of two writers at once S3A and GCS refuse the second, but
        other object stores may let both succeed.

        A store whose first response was lost refuses the repeated request, too: a file with this
        very text counts as written.
        """
        with self._errors(name):
            try:
                if moves_in_one_step(name):
                    fresh = self._fresh(name)
                    self._write(fresh, text)
                    try:
                        self._rename(fresh, name, "NONE")
                    except RAISED:
                        self.delete(fresh)
                        raise
                else:
                    self._write(name, text, overwrite=False)
            except RAISED as fault:
                if not any(word in str(fault) for word in _TAKEN):
                    raise
                return not moves_in_one_step(name) and self.read_text(name) == text
            return True

    def append(self, name: str, text: str) -> None:
        """Append complete lines to a file, which is created if necessary."""
        if name != self._name:
            self._begin(name)
        with self._errors(name):
            if self._stream is not None:
                self._stream.write(bytearray(text, "utf-8"))
                self._stream.hflush()
                return
        self.write(name, self._text + text)
        self._text += text

    def move(self, source: str, target: str) -> None:
        """Rename a file, replacing an existing one."""
        with self._errors(target):
            system, path = self._at(target)
            system.mkdirs(path.getParent())
            if moves_in_one_step(target):
                self._rename(source, target, "OVERWRITE")
                return
            system.delete(path, False)
            if not system.rename(self._fs.Path(source), path):
                raise StorageError(f"{target} cannot be changed: {source} cannot be renamed")

    def delete(self, name: str) -> None:
        """Delete a file, or a folder with its contents; do nothing if it does not exist."""
        with self._errors(name):
            system, path = self._at(name)
            system.delete(path, True)

    def flush(self) -> None:
        """Do nothing: a file is durable once it is closed."""

    def close(self) -> None:
        """Close the file that was appended to last."""
        name, stream = self._name, self._stream
        self._name, self._stream, self._text = "", None, ""
        if stream is not None:
            with self._errors(name):
                stream.close()

    def download(self, folder: str, target: Path) -> None:
        """Copy a folder with its contents to a new local folder."""
        with self._errors(folder, "read"):
            system, path = self._at(folder)
            system.copyToLocalFile(False, path, self._fs.Path(f"file:{target}"), True)

    def upload(self, source: Path, name: str) -> None:
        """Copy a local file, replacing an existing one."""
        with self._errors(name):
            system, path = self._at(name)
            system.mkdirs(path.getParent())
            system.delete(path, False)  # including the checksum of a local file
            system.copyFromLocalFile(False, True, self._fs.Path(f"file:{source}"), path)

    @contextmanager
    def _errors(self, name: str, done: str = "changed") -> Iterator[None]:
        try:
            yield
        except RAISED as fault:
            reason = java_message(fault)
            if any(sign in reason for sign in _NO_CONNECTOR):
                reason = missing_connector(name, self.hadoop_version)
            raise StorageError(f"{name} cannot be {done}: {reason}") from None

    def _at(self, name: str) -> tuple[Any, Any]:
        path = self._fs.Path(name)
        return path.getFileSystem(self._configuration()), path

    def _fresh(self, name: str) -> str:
        folder, _, own = name.rpartition("/")
        return f"{folder}/.{own}.{self._suffix}"

    def _begin(self, name: str) -> None:
        self.close()
        before = self.read_text(name)
        if before is None and moves_in_one_step(name):
            with self._errors(name):
                stream = self._created(name, overwrite=False)
                if stream.hasCapability("hflush"):
                    self._stream = stream
                else:
                    stream.close()
        self._name, self._text = name, before or ""
        if self._text and not self._text.endswith("\n"):  # a crash tore the last line
            self._text += "\n"

    def _write(self, name: str, text: str, *, overwrite: bool = True) -> None:
        stream = self._created(name, overwrite=overwrite)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()

    def _created(self, name: str, *, overwrite: bool) -> Any:
        system, path = self._at(name)
        if moves_in_one_step(name):
            return system.create(path, overwrite)
        builder = system.createFile(path).recursive().overwrite(overwrite)
        return builder.opt(_UNPROBED if overwrite else _CONDITIONAL, "true").build()

    def _rename(self, source: str, target: str, option: str) -> None:
        """Rename in one step, which only ``FileContext`` supports for an existing target."""
        from pyspark import SparkContext

        system, path = self._at(target)
        kinds = getattr(self._fs, "Options$Rename")
        options = SparkContext._gateway.new_array(kinds, 1)
        options[0] = getattr(kinds, option)
        uri = system.makeQualified(path).toUri()
        context = self._fs.FileContext.getFileContext(uri, self._configuration())
        context.rename(self._fs.Path(source), path, options)


def session_files(gateway: Gateway) -> HadoopFileSystem:
    """Return the file system with the settings of a session."""

    def configuration() -> Any:
        # Lazily: a StreamingContext has no session, and needs none.
        return gateway.spark._jsparkSession.sessionState().newHadoopConf()

    return HadoopFileSystem(gateway.jvm, configuration)


def application_files(spark: Any) -> HadoopFileSystem:
    """Return the file system with the settings of a session's application."""
    context = spark.sparkContext
    return HadoopFileSystem(context._jvm, context._jsc.hadoopConfiguration)


def own_files(java_options: str = "") -> HadoopFileSystem:
    """Return the file system of a separate JVM with the settings of ``spark-defaults.conf`` and
    ``HADOOP_CONF_DIR``; the JVM starts in about 2 s.
    """
    from pyspark import SparkConf, SparkContext

    options = SparkConf().set("spark.driver.extraJavaOptions", java_options)
    SparkContext._ensure_initialized(conf=options if java_options else None)
    jvm: Any = SparkContext._jvm
    return HadoopFileSystem(jvm, jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf)


def _unless_missing(call: Callable[[], _T]) -> _T | None:
    """Return the result of a call; None if its file does not exist."""
    try:
        return call()
    except RAISED as fault:
        if _MISSING not in java_message(fault):
            raise
        return None


def _status(status: Any) -> FileStatus:
    return FileStatus(
        int(status.getLen()),
        int(status.getModificationTime()) * 1_000_000,
        is_folder=bool(status.isDirectory()),
    )
