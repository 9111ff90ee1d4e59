"""The location of a journal, and the message if it is deleted with the driver's container."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.errors import BadInput
from rheostat.journal.folder import read
from rheostat.journal.remote_journal import RemoteJournal
from rheostat.model import Record, Rescaling
from rheostat.settings import Settings, settings_of
from rheostat.spark.journaling import journals
from rheostat.spark.journaling.journals import after_death_text, journal_of
from rheostat.storage.file_system import StorageError


class Conf(dict[str, str]):
    """The configuration of an application."""


def session(master: str, mode: str) -> Any:
    conf = Conf({"spark.submit.deployMode": mode})
    context = SimpleNamespace(master=master, applicationId="app-1", getConf=lambda: conf)
    return SimpleNamespace(sparkContext=context)


class RemoteFiles(MemoryFileSystem):
    """Existing folders, one of a newer version, and an unknown host."""

    def __init__(self) -> None:
        super().__init__()
        self.write("hdfs://name/newer/memory.json", '{"schema": 1, "records": 2}')

    def names(self, folder: str) -> list[str]:
        if "nowhere" in folder:
            raise StorageError(f"{folder} cannot be read: java.net.UnknownHostException: nowhere")
        return super().names(folder)


def tick(t_s: float) -> Record:
    return Record(
        t_s=t_s,
        observation=None,
        queries=(),
        raw=None,
        guards=(),
        target=None,
        actions=(),
        rescaling=Rescaling(phase="idle"),
    )


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "container").mkdir()
    monkeypatch.chdir(tmp_path / "container")
    monkeypatch.setattr(journals, "application_files", lambda _: RemoteFiles())


@pytest.mark.parametrize(
    ("master", "mode", "is_deleted"),
    [("yarn", "cluster", True), ("yarn", "client", False), ("spark://h:1", "cluster", False)],
)
def test_a_local_journal_is_deleted_with_its_application_master(
    master: str, mode: str, is_deleted: bool, tmp_path: Path
) -> None:
    message = after_death_text(session(master, mode), Settings(), tmp_path)
    assert message.startswith(", which is deleted with this container") == is_deleted


def test_a_journal_on_a_remote_file_system_is_stored_there(tmp_path: Path) -> None:
    settings = settings_of(journal="hdfs://name/journals/one")
    spark = session("yarn", "cluster")
    journal = journal_of(spark, settings)
    assert isinstance(journal, RemoteJournal)
    assert journal.kept_at == "hdfs://name/journals/one"
    assert journal.folder == tmp_path / "container" / "rheostat-journal" / "app-1"
    in_client = journal_of(session("yarn", "client"), settings).folder
    assert in_client == tmp_path / "state" / "rheostat" / "journal" / "app-1"
    assert after_death_text(spark, settings, journal.folder) == ", kept in hdfs://name/journals/one"


def test_an_unreachable_journal_is_rejected() -> None:
    settings = settings_of(journal="hdfs://nowhere/one")
    with pytest.raises(BadInput, match=r"reached: hdfs://nowhere/one cannot be read: java\.net\.U"):
        journal_of(session("yarn", "cluster"), settings)


def test_a_second_writer_gets_its_own_folder_and_both_journals_stay_ordered(
    tmp_path: Path,
) -> None:
    settings, spark = settings_of(journal=tmp_path / "journal"), session("yarn", "client")
    first, second = journal_of(spark, settings), journal_of(spark, settings)
    assert second.folder == first.folder / "writer-2"
    for t_s in (2.0, 1.0):
        (first if t_s == 2.0 else second).append(tick(t_s), {"t_s": t_s})
    assert [record.t_s for record in read(first.folder)] == [2.0]
    assert [record.t_s for record in read(second.folder)] == [1.0]
    first.close()
    second.close()
    third = journal_of(spark, settings)
    assert third.folder == first.folder
    assert third.restore() == {"t_s": 2.0}
    third.close()


@pytest.mark.parametrize(
    ("name", "text"),
    [("memory.json", '{"schema": 2, "memory": {}}'), ("segment-00007.jsonl", '{"schema": 2}\n')],
)
def test_a_journal_of_a_newer_version_is_rejected_without_any_write(
    name: str, text: str, tmp_path: Path
) -> None:
    folder = tmp_path / "journal"
    folder.mkdir()
    (folder / name).write_text(text)
    with pytest.raises(BadInput, match=r"was written by a newer version of Rheostat \(schema 2; "):
        journal_of(session("yarn", "client"), settings_of(journal=folder))
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(name, text)]


def test_a_remote_journal_of_a_newer_version_is_rejected() -> None:
    settings = settings_of(journal="hdfs://name/newer")
    with pytest.raises(BadInput, match="hdfs://name/newer was written by a newer version"):
        journal_of(session("yarn", "client"), settings)


@pytest.mark.parametrize("is_file", [False, True])
def test_an_unwritable_folder_is_rejected_in_one_line(is_file: bool, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    if is_file:
        folder.write_text("")
    else:
        folder = Path("/proc/self/journal")  # no user can create it, including root
    with pytest.raises(BadInput, match=f"the journal folder {folder} cannot be written: "):
        journal_of(session("yarn", "client"), settings_of(journal=folder))


@pytest.mark.parametrize(
    ("given", "location"),
    [
        ("there", Path("there")),
        ("file:///there", Path("/there")),
        ("file:/there", Path("/there")),
        ("s3a://bucket/there", "s3a://bucket/there"),
    ],
)
def test_a_journal_location_is_a_path_or_a_url(given: str, location: Path | str) -> None:
    assert settings_of(journal=given).journal == location
