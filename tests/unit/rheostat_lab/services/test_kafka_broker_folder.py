"""A broker's changes to its folder."""

from __future__ import annotations

import pytest

from rheostat.errors import BadInput
from rheostat_lab.services import broker


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    monkeypatch.setattr(broker, "broker_jars", lambda: (tmp_path / "kafka.jar",))
    monkeypatch.setattr(broker, "_format", lambda *_: None)


@pytest.mark.usefixtures("no_java")
def test_a_folder_of_the_user_is_rejected_and_left_unchanged(tmp_path):
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "server.properties").write_text("mine")
    with pytest.raises(BadInput, match=r"--dir .* holds server.properties"):
        broker.prepare(folder, 9092)
    assert (folder / "server.properties").read_text() == "mine"


@pytest.mark.usefixtures("no_java")
def test_the_same_folder_can_be_used_again(tmp_path):
    folder = tmp_path / "kafka"
    first = broker.prepare(folder, 9092)
    (folder / "notes.txt").write_text("mine")
    assert broker.prepare(folder, 9093)[-1] == first[-1]
    assert "127.0.0.1:9093" in (folder / "server.properties").read_text()
    assert (folder / "notes.txt").exists()
