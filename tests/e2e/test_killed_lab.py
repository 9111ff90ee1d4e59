"""``rheostat lab run`` while its executors, its broker and the lab itself are killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest

from rheostat_lab.clusters.executor_processes import executors_under
from rheostat_lab.matrix.kept_run import observations

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

SPEC = """experiment: matrix
minutes: 0.5
queries: [q11, q1, q3]
loads:
  low: constant:rate=60
  q3: cosine:shift=60,amplitude=30,period_s=30,hold_s=3
policies: [{policy: fixed, set: {executors: 2}}]
limits: [1, 2]
cores: 1
seeds: [31]
"""
Q11, Q1, Q3 = (f"{name}-fixed-executors=2-31" for name in ("q11-low", "q1-low", "q3"))
DEADLINE_S = 900.0
ENDED_S = 60.0


class Lab:
    """A lab as a process of its own."""

    def __init__(self, spec: Path, out: Path) -> None:
        self.folder = out / spec.stem
        command = [sys.executable, "-m", "rheostat.cli", "lab", "run", str(spec)]
        self._log = out.with_suffix(".log")
        with self._log.open("ab") as log:
            self.process = subprocess.Popen([*command, "--out", str(out)], stderr=log)

    @property
    def output(self) -> str:
        """What it has written to standard error, with the earlier labs of the same folder."""
        return self._log.read_text()

    def await_load(self, run: str) -> None:
        """Wait until 10 seconds of a run's load are over."""
        log = self.folder / f"{run}.log"
        shown = re.compile(r"^(0:[1-9]\d|[1-9]\d*:\d\d)/0:30", re.MULTILINE)
        self._until(lambda: log.exists() and bool(shown.search(log.read_text())))

    def _until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not holds():
            assert self.process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.1)

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def kill(self, process: psutil.Process) -> None:
        os.kill(process.pid, signal.SIGKILL)


@pytest.fixture
def started() -> Iterator[list[Lab]]:
    labs: list[Lab] = []
    yield labs
    for lab in labs:
        lab.process.kill()
        lab.process.wait()


def is_broker(process: psutil.Process) -> bool:
    try:
        # Its supervisor has the same words.
        return process.name() == "java" and "kafka.Kafka" in process.cmdline()
    except psutil.Error:
        return False


def result(lab: Lab) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(lab.folder.with_suffix(".json").read_text())
    return read


def test_killed_executors_brokers_and_labs_lose_at_most_their_own_run(
    tmp_path: Path, started: list[Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    spec, out = tmp_path / "short.yaml", tmp_path / "out"
    spec.write_text(SPEC)
    lab = Lab(spec, out)
    started.append(lab)

    lab.await_load(Q11)
    lab.kill(executors_under([lab.process.pid])[-1])
    lab.await_load(Q1)
    lab.kill(next(filter(is_broker, lab.children())))
    lab.await_load(Q3)
    # The first run is exact without an executor, the second one has failed without its broker.
    so_far = result(lab)
    assert [(row["query"], row["exact"]) for row in so_far["rows"]] == [("q11", True)]
    assert "the Kafka broker failed" in so_far["failures"][Q1]

    children = lab.children()
    lab.kill(psutil.Process(lab.process.pid))
    lab.process.wait()
    # At once, while the processes of the killed lab still end.
    first_run = (lab.folder / f"{Q11}.parquet").stat()
    again = Lab(spec, out)
    started.append(again)
    _, alive = psutil.wait_procs(children, ENDED_S)
    assert not alive
    assert again.process.wait(DEADLINE_S) == 0, again.output

    whole = result(again)
    assert whole["failures"] == {}
    assert [(row["query"], row["exact"]) for row in whole["rows"]] == [
        ("q11", True),
        ("q1", True),
        ("q3", True),
    ]
    assert (lab.folder / f"{Q11}.parquet").stat().st_mtime_ns == first_run.st_mtime_ns
    assert pq.read_table(out / "short.parquet").column("query").to_pylist() == ["q11", "q1", "q3"]
    for run in (Q11, Q1, Q3):
        seen = observations(lab.folder / f"{run}.parquet")
        assert seen[-1].t_s >= 25
        assert {now.executors for now in seen} <= {None, 1, 2}
    assert not list(temporary.glob("rheostat-*"))
    assert not [path for path in lab.folder.iterdir() if path.name.endswith(".failure.txt")]
