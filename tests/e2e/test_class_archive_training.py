from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rheostat.lab import archive

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
LARGE = 10_000_000


def start_nothing(spark: SparkSession) -> None:
    raise ValueError("no such query")


def test_an_archive_is_trained_once_and_then_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    trained = archive.prepare()
    assert trained.note is None
    assert trained.path is not None
    assert trained.path.stat().st_size > LARGE
    assert archive.find() == trained
    written = trained.path.stat().st_mtime_ns
    assert archive.prepare() == trained
    assert trained.path.stat().st_mtime_ns == written


def test_a_training_that_fails_leaves_a_note_and_no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    prepared = archive.prepare(start_nothing)
    assert prepared.path is None
    assert "no class archive: the training failed" in (prepared.note or "")
    assert list(tmp_path.rglob("*.jsa")) == []
