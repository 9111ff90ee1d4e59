from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest

from rheostat.errors import BadInput
from rheostat.lab import cluster
from rheostat.machine.ports import free_port

pytestmark = pytest.mark.e2e
SCRIPT = Path(__file__).parent / "cluster_session.py"
GONE_DEADLINE_S = 25.0
Running: TypeAlias = "tuple[subprocess.Popen[str], dict[str, Any]]"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    # A killed parent cannot remove its temporary folder.
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command, pipe = [sys.executable, str(SCRIPT)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield process, json.loads(process.stdout.readline() or "{}")
        finally:
            process.kill()


def _left(pids: list[int]) -> list[int]:
    deadline = time.monotonic() + GONE_DEADLINE_S
    left = pids
    while left and time.monotonic() < deadline:
        time.sleep(0.2)
        left = [pid for pid in left if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]
    return left


def test_a_session_gets_one_executor_on_loopback_and_no_java_outlives_a_killed_parent(running: Running) -> None:
    process, said = running
    assert (said["rows"], said["executors"]) == (100, 1)
    assert len(said["java"]) == 4
    assert {host.removeprefix("::ffff:") for host in said["hosts"]} == {"127.0.0.1"}
    process.kill()
    assert _left(said["java"]) == []


def test_a_cluster_that_is_left_takes_its_processes_and_files_with_it() -> None:
    with cluster.Cluster(cores=1) as left:
        folder, worker = left.folder, left.worker_pid
        assert left.alive
        assert worker is not None
    assert not left.alive
    assert _left([worker]) == []
    assert not folder.exists()


def test_up_and_down_without_a_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    port = free_port()
    try:
        assert cluster.up(cores=1, port=port) == f"spark://127.0.0.1:{port}"
        with pytest.raises(BadInput, match="up already"):
            cluster.up()
    finally:
        ended = cluster.down()
    assert ended == f"spark://127.0.0.1:{port}"
    assert cluster.down() is None
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
