"""``cluster`` and ``kafka``: inputs rejected before anything starts, and the JSON output."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rheostat.cli.app import run
from rheostat_lab.clusters import standalone_service
from rheostat_lab.services import broker, service


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def start(*_: object, **__: object) -> None:
        raise AssertionError("nothing may be started")

    monkeypatch.setattr(service, "start", start)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cluster", "up", "--cores", "0"), "a cluster needs at least 1 core, but 0"),
        (("cluster", "up", "--cores", "-3"), "a cluster needs at least 1 core, but -3"),
        (("cluster", "up", "--cores", "10001"), "at most 10000 cores, but 10001"),
        (("cluster", "up", "--port", "0"), "must be between 1 and 65535, but it is 0"),
        (("kafka", "up", "--port", "70000"), "must be between 1 and 65535, but it is 70000"),
        (("kafka", "up", "--topic", "bad topic!"), "but it is 'bad topic!'"),
        (("kafka", "up", "--topic", ".."), "but it is '..'"),
        (("kafka", "up", "--topic", "ä"), "but it is 'ä'"),
        (("kafka", "up", "--topic", ""), "but it is ''"),
        (("kafka", "up", "--topic", "t", "--partitions", "1001"), "but 1001 were requested"),
        (("kafka", "up", "--dir", "/dev/null/kafka"), "/dev/null/kafka cannot be used: Not a dir"),
        (("kafka", "up", "--dir", "/dev/null"), "--dir /dev/null is a file; name a folder"),
    ],
)
def test_invalid_input_is_rejected_in_one_line_before_anything_starts(capsys, arguments, message):
    assert run(arguments) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_is_rejected(capsys, tmp_path):
    tmp_path.chmod(0o500)
    assert run(("kafka", "up", "--dir", str(tmp_path / "kafka"))) == 2
    assert "cannot be used: Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize("room", ["cluster", "kafka"])
def test_the_ended_service_is_reported_as_json(capsys, room):
    assert run((room, "down", "--json")) == 0
    assert json.loads(capsys.readouterr().out) == {"ended": None}


def test_the_address_of_a_cluster_is_reported_as_json(capsys, monkeypatch):
    monkeypatch.setattr(standalone_service, "up", lambda cores, port: "spark://127.0.0.1:7077")
    assert run(("cluster", "up", "--json", "--cores", "4")) == 0
    expected = {
        "url": "spark://127.0.0.1:7077",
        "cores": 4,
        "kind": "standalone",
        "environment": {},
    }
    assert json.loads(capsys.readouterr().out) == expected


def test_the_address_of_a_broker_is_reported_as_json(capsys, monkeypatch):
    options = {}

    def up(**given: object) -> str:
        options.update(given)
        return "127.0.0.1:9092"

    monkeypatch.setattr(broker, "up", up)
    assert run(("kafka", "up", "--topic", "bids", "--partitions", "3", "--json")) == 0
    expected = {"bootstrap": "127.0.0.1:9092", "topic": "bids"}
    assert json.loads(capsys.readouterr().out) == expected
    assert options["topics"] == {"bids": 3}
