from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import IllegalArgumentException

from rheostat.spark.internals.hadoop_file_system import HadoopFileSystem, session_files
from rheostat.storage.file_system import StorageError


class Hadoop:
    """Hadoop's file system, backed by local files."""

    def __init__(self, name: str) -> None:
        self.path = Path(name)

    def getFileSystem(self, conf: str) -> Hadoop:  # noqa: N802 - Hadoop's name
        assert conf == "the session's settings"
        return self

    def _there(self) -> Path:
        if not self.path.exists():
            raise Py4JError("java.io.FileNotFoundException")
        return self.path

    def listStatus(self, path: Hadoop) -> Any:  # noqa: N802 - Hadoop's name
        return [_named(child.name) for child in sorted(path._there().iterdir())]

    def getContentSummary(self, path: Hadoop) -> Any:  # noqa: N802 - Hadoop's name
        size = sum(file.stat().st_size for file in path._there().rglob("*") if file.is_file())
        return SimpleNamespace(getLength=lambda: size)

    def open(self, path: Hadoop) -> Any:
        return path._there().open(encoding="utf-8")


def _named(name: str) -> Any:
    return SimpleNamespace(getPath=lambda: SimpleNamespace(getName=lambda: name))


@pytest.fixture
def files(gateway: Callable[..., Any]) -> HadoopFileSystem:
    state = SimpleNamespace(newHadoopConf=lambda: "the session's settings")
    fake_gateway = gateway(session=SimpleNamespace(sessionState=lambda: state))
    read = SimpleNamespace(IOUtils=SimpleNamespace(toString=lambda stream, _: stream.read()))
    fake_gateway.jvm.org = SimpleNamespace(
        apache=SimpleNamespace(
            hadoop=SimpleNamespace(fs=SimpleNamespace(Path=Hadoop)),
            commons=SimpleNamespace(io=read),
        )
    )
    return session_files(fake_gateway)


@pytest.mark.parametrize("kind", [Py4JError, IllegalArgumentException])
def test_an_unreadable_folder_is_reported_in_one_line(
    files: HadoopFileSystem, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def unknown(self: Hadoop, path: Hadoop) -> None:
        raise kind("java.net.UnknownHostException: nowhere.invalid\nat line 2")

    monkeypatch.setattr(Hadoop, "listStatus", unknown)
    message = "^hdfs://nowhere.invalid/a cannot be read: java.net.UnknownHostException: nowhere.*d$"
    with pytest.raises(StorageError, match=message):
        files.names("hdfs://nowhere.invalid/a")


def test_a_checkpoint_is_read_through_hadoop(files: HadoopFileSystem, tmp_path: Path) -> None:
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "metadata").write_text("v1\n{}", encoding="utf-8")
    assert files.names(str(tmp_path)) == ["0"]
    assert files.read_text(str(tmp_path / "0" / "metadata")) == "v1\n{}"
    assert files.size(str(tmp_path)) == 5


def test_a_missing_file_is_absent_and_not_an_error(files: HadoopFileSystem, tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    assert (files.names(gone), files.read_text(gone), files.size(gone)) == ([], None, None)
