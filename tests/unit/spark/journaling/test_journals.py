"""Where a journal is, and what is said of it when the driver's container will go."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.journal.far import FarJournal
from rheostat.spark.journaling import journals
from rheostat.spark.journaling.journals import fate, journal_of
from rheostat.spark.settings.sizing_settings import Settings, settings_of


class Conf(dict[str, str]):
    """The configuration of an application."""


def session(master: str, mode: str) -> Any:
    conf = Conf({"spark.submit.deployMode": mode})
    context = SimpleNamespace(master=master, applicationId="app-1", getConf=lambda: conf)
    return SimpleNamespace(sparkContext=context)


class Far:
    """A folder that is there, or not."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    def sizes(self) -> dict[str, tuple[int, float]]:
        if "nowhere" in self.uri:
            raise OSError("java.net.UnknownHostException: nowhere")
        return {}


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "container").mkdir()
    monkeypatch.chdir(tmp_path / "container")
    monkeypatch.setattr(journals, "hadoop_folder", lambda _, uri: Far(uri))


@pytest.mark.parametrize(
    ("master", "mode", "goes"),
    [("yarn", "cluster", True), ("yarn", "client", False), ("spark://h:1", "cluster", False)],
)
def test_a_local_journal_in_an_application_master_goes_with_it(
    master: str, mode: str, goes: bool, tmp_path: Path
) -> None:
    said = fate(session(master, mode), Settings(), tmp_path)
    assert said.startswith(", which goes with this container") == goes


def test_a_journal_on_another_file_system_is_kept_there(tmp_path: Path) -> None:
    settings = settings_of(journal="hdfs://name/journals/one")
    spark = session("yarn", "cluster")
    journal = journal_of(spark, settings)
    assert isinstance(journal, FarJournal)
    assert journal.kept_at == "hdfs://name/journals/one"
    assert journal.folder == tmp_path / "container" / "rheostat-journal" / "app-1"
    in_client = journal_of(session("yarn", "client"), settings).folder
    assert in_client == tmp_path / "state" / "rheostat" / "journal" / "app-1"
    assert fate(spark, settings, journal.folder) == ", kept in hdfs://name/journals/one"


def test_a_journal_that_cannot_be_reached_is_refused() -> None:
    settings = settings_of(journal="hdfs://nowhere/one")
    with pytest.raises(BadInput, match=r"hdfs://nowhere/one cannot be reached: java\.net\.Unknown"):
        journal_of(session("yarn", "cluster"), settings)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("there", Path("there")),
        ("file:///there", Path("/there")),
        ("file:/there", Path("/there")),
        ("s3a://bucket/there", "s3a://bucket/there"),
    ],
)
def test_a_folder_is_a_path_or_a_name_elsewhere(given: str, kept: Path | str) -> None:
    assert settings_of(journal=given).journal == kept
