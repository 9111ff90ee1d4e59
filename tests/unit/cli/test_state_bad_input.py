"""Every input that a repartition rejects: exit code 2, one line, nothing written, no Spark."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.repartition.checkpoint_on_disk import plan_batch, write_operator
from tests.unit.repartition.toy_query import ToyQuery

from rheostat.cli.app import run
from rheostat.repartition import preflight
from rheostat.spark.sensing.query_shape import PROVIDER

Broken = Callable[[Path], None]


def unlinked(name: str) -> Broken:
    return lambda folder: (folder / name).unlink()


def without_commits(folder: Path) -> None:
    shutil.rmtree(folder / "commits")


def without_metadata(folder: Path) -> None:
    shutil.rmtree(folder / "state" / "0" / "_metadata")


def with_conf(**settings: str) -> Broken:
    return lambda folder: plan_batch(folder, 2, 4, **settings)


def unchanged(_: Path) -> None:
    """Leave the checkpoint valid."""


CASES: dict[str, tuple[Broken, int, str]] = {
    "not a checkpoint": (shutil.rmtree, 7, "is not a folder"),
    "a folder of something else": (
        lambda f: shutil.rmtree(f / "offsets"),
        7,
        "is not the checkpoint",
    ),
    "no committed batch": (without_commits, 7, "has no committed batch"),
    "a batch that is not committed": (unlinked("commits/2"), 7, "but not committed it"),
    "an older Spark's": (without_metadata, 7, "an older Spark has written this checkpoint"),
    "a missing entry of a log": (unlinked("offsets/2"), 7, "offsets/2 is missing"),
    "a missing file of the state": (unlinked("state/0/1/3.delta"), 7, "0/1/3.delta is missing"),
    "a gap in the state": (unlinked("state/0/3/2.delta"), 7, "0/3/2.delta is missing"),
    "a missing partition": (lambda f: shutil.rmtree(f / "state/0/2"), 7, "0/2/3.changelog is miss"),
    "no partitions": (unchanged, 0, "--partitions must be from 1 to 32768, but it is 0"),
    "today's partitions": (unchanged, 4, "--partitions 4 is what"),
    "a limit": (
        lambda f: write_operator(f, 1, "globalLimit"),
        7,
        "operator 1 (globalLimit) cannot be",
    ),
    "an operator of the future": (
        lambda f: write_operator(f, 0, "quantumJoinExec"),
        7,
        "operator 0 (quantumJoinExec) cannot be repartitioned",
    ),
    "a format of the future": (
        with_conf(**{"spark.sql.streaming.join.stateFormatVersion": "5"}),
        7,
        "join.stateFormatVersion is 5, which is not known: 1 or 2 or 3 or 4 can be repartitioned",
    ),
    "an encoding of the future": (
        with_conf(**{"spark.sql.streaming.stateStore.encodingFormat": "parquet"}),
        7,
        "encodingFormat is parquet, which is not known",
    ),
    "somebody's own provider": (
        with_conf(**{PROVIDER: "org.example.CassandraProvider"}),
        7,
        "the state provider org.example.CassandraProvider is not known",
    ),
}


def everything(folder: Path) -> dict[Path, bytes | None]:
    return {
        path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))
    }


def aged(folder: Path) -> Path:
    """Age a checkpoint's logs, so that the command does not wait for a running query."""
    for entry in [*folder.rglob("offsets/*"), *folder.rglob("commits/*")]:
        os.utime(entry, (1, 1))
    return folder


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(
        "rheostat.repartition.spark_repartition.own_session",
        lambda: pytest.fail("Spark was started"),
    )
    ToyQuery(tmp_path / "checkpoint").run(3)
    return tmp_path / "checkpoint"


def refused(capsys: pytest.CaptureFixture[str], location: str, partitions: int) -> str:
    assert run(["state", "repartition", location, "--partitions", str(partitions)]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    return line


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_reported_in_one_line_and_writes_nothing(
    checkpoint: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    broken, partitions, message = CASES[case]
    broken(checkpoint)
    before = everything(aged(checkpoint))
    assert message in refused(capsys, str(checkpoint), partitions)
    assert everything(checkpoint) == before


def test_insufficient_disk_space_is_rejected(
    checkpoint: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    before = everything(aged(checkpoint))
    assert "its disk has 0 MB free: make room first" in refused(capsys, str(checkpoint), 7)
    assert everything(checkpoint) == before


@pytest.mark.parametrize("location", ["s3n://bucket/cp", "abfss://x@y/z"])
def test_a_remote_path_is_rejected(
    checkpoint: Path, capsys: pytest.CaptureFixture[str], location: str
) -> None:
    assert "copy the checkpoint of the stopped query" in refused(capsys, location, 7)


def test_a_running_query_is_rejected(
    checkpoint: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "WATCH_S", 60.0)
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.05):
            ToyQuery(checkpoint).run(1)
            os.utime(checkpoint / "offsets" / "0")

    running = threading.Thread(target=work)
    running.start()
    try:
        assert "a query is running on" in refused(capsys, str(checkpoint), 7)
    finally:
        stop.set()
        running.join()
    assert not (checkpoint / "_rheostat").exists()
