from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import RheostatError
from rheostat.local import fast_local_files as module
from rheostat.local.fast_local_files import CLASS, SETTING, LocalFiles, local_files


def test_a_session_gets_the_file_system_class_and_its_jar(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jar = tmp_path / "LocalFiles.jar"
    monkeypatch.setattr(module, "build_jar", lambda *_: jar)
    assert local_files() == LocalFiles((jar,), {SETTING: CLASS})


def test_a_session_without_a_compiler_gets_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_compiler(*_: object) -> Path:
        raise RheostatError("javac cannot be run")

    monkeypatch.setattr(module, "build_jar", no_compiler)
    assert local_files() == LocalFiles()
