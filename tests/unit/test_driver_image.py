"""The image of a driver copies only files of the repository and installs only existing extras."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

from rheostat import cli

ROOT = Path(__file__).parents[2]
IMAGE = (ROOT / "deploy" / "docker" / "driver.Dockerfile").read_text()
SUBMIT = ROOT / "deploy" / "submit" / "rheostat_run.py"


def lines(word: str) -> list[str]:
    return re.findall(rf"^{word} (.*)$", IMAGE, re.MULTILINE)


def test_the_image_extends_sparks_image_with_its_user_and_entrypoint() -> None:
    assert lines("FROM") == ["${SPARK_IMAGE}"]
    assert lines("ARG")[0].startswith("SPARK_IMAGE=apache/spark:")
    assert lines("USER") == ["0", "185"]
    assert not lines("ENTRYPOINT")


def test_copied_files_and_installed_extras_exist() -> None:
    for copied in lines("COPY"):
        assert (ROOT / copied.split()[0]).exists()
    (extras,) = re.findall(r"/src\[(.*?)\]", IMAGE)
    known = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert set(extras.split(",")) <= set(known)


def test_the_submit_script_passes_the_application_to_rheostat_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[list[str]] = []
    monkeypatch.setattr(cli, "main", lambda: taken.append(sys.argv[1:]))
    monkeypatch.setattr(sys, "argv", [str(SUBMIT), "app.py", "--own", "7"])
    runpy.run_path(str(SUBMIT), run_name="__main__")
    assert taken == [["run", "app.py", "--", "--own", "7"]]
