"""Executors are identified among the processes of this computer by their command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from rheostat_lab.clusters.executor_processes import BACKENDS, executor_id, executors_under

WAITS = "import sys; sys.stdin.read()"


@contextmanager
def child(*arguments: str) -> Iterator[psutil.Process]:
    """Start a process with these words on its command line; it ends when its input is closed."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITS, *arguments], stdin=subprocess.PIPE
    ) as process:
        yield psutil.Process(process.pid)
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_executors_of_every_backend_are_identified_by_their_id(backend: str) -> None:
    with child(backend, "--executor-id", "7", "--cores", "1") as executor, child("--cores", "1"):
        assert [process.pid for process in executors_under([os.getpid()])] == [executor.pid]
        assert executor_id(executor) == "7"


def test_other_and_ended_processes_have_no_executor_id() -> None:
    with child("--executor-id") as other:
        assert executor_id(other) is None
    assert executor_id(other) is None
    assert executors_under([other.pid]) == []
