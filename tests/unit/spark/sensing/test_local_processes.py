"""Executors among the processes of a computer, read from a folder in the format of ``/proc``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rheostat.spark.sensing.local_processes import LocalExecutors, Used, load_per_core

TICKS = os.sysconf("SC_CLK_TCK")


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    def process(
        pid: int, parent: int, name: str, seconds: float, reaped: float = 0.0, command: str = ""
    ) -> None:
        (tmp_path / str(pid)).mkdir()
        times = f"{seconds * TICKS:.0f} 0 {reaped * TICKS:.0f} 0"
        (tmp_path / str(pid) / "stat").write_text(
            f"{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {times} 20 0 1 0 55 0 0\n"
        )
        (tmp_path / str(pid) / "cmdline").write_bytes(command.encode().replace(b" ", b"\0"))

    backend = (
        "java -cp x org.apache.spark.executor.CoarseGrainedExecutorBackend --app-id {}"
        " --executor-id {} --cores 1"
    )
    process(1, 0, "init", 900.0)
    process(10, 1, "java", 12.5, command=backend.format("app-1", 0))
    process(11, 10, "python3 (daemon)", 1.0, reaped=4.0)
    process(12, 11, "python3", 3.0)
    process(20, 1, "java", 7.0, command=backend.format("app-1", 12))
    process(30, 1, "java", 99.0, command=backend.format("app-2", 0))
    process(31, 30, "python3", 99.0)
    process(40, 1, "java", 50.0, command="java org.apache.spark.deploy.SparkSubmit app-1")
    (tmp_path / "self").mkdir()
    (tmp_path / "50").mkdir()
    return tmp_path


def test_executors_of_the_application_include_their_child_processes(proc):
    assert LocalExecutors("app-1", proc).used() == {"0": Used(12.5, 8.0), "12": Used(7.0, 0.0)}


def test_command_lines_are_read_once_and_ended_processes_are_forgotten(proc):
    executors = LocalExecutors("app-1", proc)
    executors.used()
    (proc / "10" / "cmdline").unlink()
    assert set(executors.used()) == {"0", "12"}
    (proc / "20" / "stat").unlink()
    assert set(executors.used()) == {"0"}


@pytest.mark.parametrize("application", ["app-9", "app"])
def test_other_applications_have_no_executors(proc, application):
    assert LocalExecutors(application, proc).used() == {}


def test_a_missing_proc_folder_yields_no_executors(tmp_path):
    assert LocalExecutors("app-1", tmp_path / "nowhere").used() == {}


def test_the_load_is_per_core():
    load = load_per_core()
    assert load is not None
    assert load >= 0
