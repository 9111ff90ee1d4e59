"""A sweep as Spark jobs continues after being killed, and its rows equal those of a sweep without
Spark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rheostat.cli.app import run
from rheostat_lab.sweep.runner import CHUNK, here, rows, sweep
from rheostat_lab.sweep.sweep_spec import read_spec

pytestmark = pytest.mark.e2e

QUICK_START = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"
SPEC = """
minutes: 3
slo: 30
seeds: 33
plants:
  small: {executors: 2, trigger_s: 10}
loads:
  wave: cosine:shift=4000,amplitude=3000,noise=500,period_s=900
policies: [fixed, ds2, spark-batch-ratio]
"""


@pytest.mark.thorough
def test_a_killed_sweep_continues_with_the_same_result(
    driver: dict[str, str], tmp_path: Path
) -> None:
    spec, folder = tmp_path / "spec.yaml", tmp_path / "rows"
    spec.write_text(SPEC, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "rheostat.cli",
        "simulate",
        "sweep",
        str(spec),
        "--folder",
        str(folder),
        "--master",
        "local[2]",
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": ":".join(sys.path),
        "PYSPARK_SUBMIT_ARGS": QUICK_START,
    }
    first = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    while first.poll() is None and not list(folder.glob("rows-*.parquet")):
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL, "it ended before it was killed: more runs are needed"
    kept = rows(folder)
    assert kept
    assert len(kept) % CHUNK == 0
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("rows-*.parquet")}

    assert run(command[3:]) == 0

    assert {name: (folder / name).stat().st_mtime_ns for name in before} == before
    sweep(read_spec(spec), tmp_path / "here", here)
    assert rows(folder) == rows(tmp_path / "here")
