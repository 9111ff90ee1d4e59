"""A checkpoint elsewhere that cannot be read: one line that says why, exit code 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.repartition.test_kills_on_spark import environment

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("location", ["s3a://bucket/orders", "hdfs://nowhere.invalid:1/orders"])
def test_without_a_way_in_it_is_one_line(tmp_path: Path, location: str) -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "rheostat.cli", "state", "inspect", location],
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 2, asked.stderr
    said = [line for line in asked.stderr.splitlines() if line.startswith("rheostat")]
    assert len(said) == 1
    assert f"{location} cannot be read" in said[0]
    assert "Traceback" not in asked.stderr
    assert not [*tmp_path.iterdir()]
