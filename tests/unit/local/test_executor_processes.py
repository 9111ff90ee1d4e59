"""Executors are identified among the processes of this computer by their command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from rheostat.local.spark_processes import BACKENDS, executor_id, executors_under

WAITS = "import sys; sys.stdin.read()"


@contextmanager
def child(*words: str) -> Iterator[psutil.Process]:
    """Start a process with these words on its command line; it ends when its input is closed."""
    with subprocess.Popen([sys.executable, "-c", WAITS, *words], stdin=subprocess.PIPE) as started:
        yield psutil.Process(started.pid)
        assert started.stdin is not None
        started.stdin.close()


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_an_executor_of_each_kind_of_cluster_is_found_with_its_name(backend: str) -> None:
    with child(backend, "--executor-id", "7", "--cores", "1") as executor, child("--cores", "1"):
        assert [each.pid for each in executors_under([os.getpid()])] == [executor.pid]
        assert executor_id(executor) == "7"


def test_another_process_has_no_name_and_one_that_is_gone_neither() -> None:
    with child("--executor-id") as other:
        assert executor_id(other) is None
    assert executor_id(other) is None
    assert executors_under([other.pid]) == []
