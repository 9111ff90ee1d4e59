"""Files of a file system that is not this computer's disks, as far as a repartition needs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rheostat.errors import RheostatError
from rheostat.spark.internals.gateway import RAISED, Gateway, as_os_error, java_message


class HadoopSystem:
    """The file system of a checkpoint; changes raise RheostatError with what it says.

    * Calls: Hadoop's public ``FileSystem`` and ``FileContext`` with the session's own settings.
    * Without them: RheostatError.
    * Spark 4.3.
    """

    def __init__(self, spark: Any, location: str) -> None:
        self._gateway = Gateway(spark)
        self._hadoop = self._gateway.jvm.org.apache.hadoop.fs
        conf = spark._jsparkSession.sessionState().newHadoopConf()
        path = self._hadoop.Path(location)
        with _file_errors(location):
            self.files = path.getFileSystem(conf)
            self._context = self._hadoop.FileContext.getFileContext(path.toUri(), conf)
            self.root = str(self.files.makeQualified(path).toString())

    def path(self, name: object) -> Any:
        """Return Hadoop's own path of a name."""
        return self._hadoop.Path(str(name))

    def status(self, name: object) -> Any | None:
        """Return what is known of a file or a folder; None where there is none; raises OSError."""
        with as_os_error():
            path = self.path(name)
            return self.files.getFileStatus(path) if self.files.exists(path) else None

    def listing(self, name: object) -> list[str]:
        """Return the names in a folder; raises OSError."""
        with as_os_error():
            return [
                str(status.getPath().getName()) for status in self.files.listStatus(self.path(name))
            ]

    def written_below(self, name: object) -> dict[str, float]:
        """Return the files below a folder by their names from there on, with the time at which
        each was written (Unix seconds); raises OSError.
        """
        with as_os_error():
            folder, written = self.files.makeQualified(self.path(name)), {}
            if not self.files.exists(folder):
                return {}
            files = self.files.listFiles(folder, True)
            while files.hasNext():
                status = files.next()
                inside = str(status.getPath().toString()).removeprefix(f"{folder.toString()}/")
                written[inside] = int(status.getModificationTime()) / 1000
            return written

    def text(self, name: object) -> str:
        """Return a small file's text; raises OSError."""
        with as_os_error():
            stream = self.files.open(self.path(name))
            try:
                return str(
                    self._gateway.jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
                )
            finally:
                stream.close()

    def write(self, name: object, text: str) -> None:
        """Write a file, over one that is there; whoever reads it meanwhile may see a half."""
        with _file_errors(name):
            stream = self.files.create(self.path(name), True)
            stream.write(bytearray(text, "utf-8"))
            stream.close()

    def rename(self, source: object, target: object, *, over: bool = False) -> bool:
        """Give a file another name, which HDFS does in one step; without ``over``, False where the
        name is taken.
        """
        kinds = getattr(self._hadoop, "Options$Rename")
        how = self._gateway.array(kinds, [kinds.OVERWRITE if over else kinds.NONE])
        with _file_errors(target):
            self.files.mkdirs(self.path(target).getParent())
            try:
                self._context.rename(self.path(source), self.path(target), how)
            except RAISED as fault:
                if over or "AlreadyExists" not in str(fault):
                    raise
                return False
        return True

    def delete(self, name: object) -> None:
        """Delete a file, or a folder with all that is in it; nothing where there is none."""
        with _file_errors(name):
            self.files.delete(self.path(name), True)

    def touch(self, name: object, now_s: float) -> None:
        """Set when a file was changed last."""
        with _file_errors(name):
            self.files.setTimes(self.path(name), int(now_s * 1000), -1)

    def download(self, name: object, target: str) -> None:
        """Copy a folder with all that is in it to this computer."""
        with _file_errors(name):
            self.files.copyToLocalFile(False, self.path(name), self.path(f"file:{target}"), True)

    def upload(self, source: str, name: object) -> None:
        """Copy a file of this computer, over one that is there."""
        with _file_errors(name):
            self.files.mkdirs(self.path(name).getParent())
            self.files.copyFromLocalFile(False, True, self.path(f"file:{source}"), self.path(name))


@contextmanager
def _file_errors(name: object) -> Iterator[None]:
    try:
        yield
    except RAISED as fault:
        raise RheostatError(f"{name} cannot be changed: {java_message(fault)}") from None
