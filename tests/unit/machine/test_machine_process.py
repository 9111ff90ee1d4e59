from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from rheostat.errors import RheostatError
from rheostat.machine import child_supervisor
from rheostat.machine.process import Child

PARENT = """
import sys, time
from pathlib import Path
from rheostat.machine.process import Child
print(Child(["sleep", "60"], log=Path(sys.argv[1])).pid, flush=True)
time.sleep(60)
"""
STUBBORN = """
import sys
from rheostat.machine import child_supervisor
child_supervisor.GRACE_S = 0.1
sys.exit(child_supervisor.main(["--", "sh", "-c", "trap '' TERM; echo ready >&2; while :; do sleep 0.05; done"]))
"""  # noqa: E501


def wait_until(condition: Callable[[], bool]) -> bool:
    """Wait for a condition that must become true; the limit of a minute only detects failures."""
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return condition()


def is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_a_child_runs_until_it_is_stopped(tmp_path: Path) -> None:
    with Child(["sleep", "60"], log=tmp_path / "log") as child:
        assert child.alive
        assert child.exit_code is None
        assert psutil.Process(child.pid).name() == "sleep"
    assert not child.alive
    assert not is_alive(child.pid)


def test_a_child_dies_when_its_parent_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "log")], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not is_alive(pid))


def test_a_parent_killed_before_its_command_began_leaves_no_command() -> None:
    with subprocess.Popen(
        [sys.executable, "-I", "-S", child_supervisor.__file__, "--", "sleep", "60"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as supervisor:
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        # The pipes of a dead parent, in most cases before the supervisor starts the command.
        supervisor.stdout.close()
        supervisor.stdin.close()
        assert supervisor.wait(60) == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    "switch", ["+m", "-m"], ids=["in its process group", "in a group of its own"]
)
def test_processes_started_by_a_child_end_with_it(tmp_path: Path, switch: str) -> None:
    with Child(
        ["sh", "-c", f"set {switch}; sleep 60 & echo $!; wait"], log=tmp_path / "log"
    ) as child:
        # A shell without a terminal also writes a line about job control.
        number = re.compile(r"^\d+$", re.MULTILINE)
        assert wait_until(lambda: bool(number.search((tmp_path / "log").read_text())))
        grandchild = int(number.findall((tmp_path / "log").read_text())[0])
        assert is_alive(grandchild)
        assert grandchild in child_supervisor.members(child.pid)
    assert not is_alive(grandchild)


def test_processes_left_by_a_dead_child_are_ended(tmp_path: Path) -> None:
    with Child(["sh", "-c", "sleep 60 & echo $!"], log=tmp_path / "log") as child:
        assert child.wait(60) == 0
        assert not is_alive(int((tmp_path / "log").read_text()))


def test_a_terminals_interrupt_does_not_reach_a_child(tmp_path: Path) -> None:
    with Child(["sleep", "60"], log=tmp_path / "log") as child:
        supervisor = psutil.Process(child.pid).ppid()
        os.kill(supervisor, signal.SIGINT)
        os.kill(supervisor, signal.SIGHUP)
        assert child.wait(0.2) is None
        assert is_alive(child.pid)


def test_a_terminated_supervisor_ends_its_command(tmp_path: Path) -> None:
    with Child(["sleep", "60"], log=tmp_path / "log") as child:
        os.kill(psutil.Process(child.pid).ppid(), signal.SIGTERM)
        assert child.wait(60) == 128 + signal.SIGTERM
        assert not is_alive(child.pid)


def test_a_command_that_ignores_sigterm_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as supervisor:
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        assert supervisor.stderr is not None
        pid = int(supervisor.stdout.readline())
        assert supervisor.stderr.readline() == b"ready\n"
        supervisor.stdin.close()
        assert supervisor.wait(60) == 128 + signal.SIGKILL
    assert not is_alive(pid)


@pytest.mark.parametrize(("command", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)])
def test_the_exit_code_of_the_command_is_returned(tmp_path: Path, command: str, code: int) -> None:
    with Child(["sh", "-c", command], log=tmp_path / "log") as child:
        assert child.wait(60) == code
        assert child.exit_code == code


def test_environment_folder_and_log_are_applied(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    command = ["sh", "-c", "echo $COLOUR; echo $PATH; pwd"]
    with Child(
        command, log=tmp_path / "logs/log", environment={"COLOUR": "red"}, folder=tmp_path / "here"
    ) as child:
        child.wait(60)
    assert (tmp_path / "logs/log").read_text().splitlines() == [
        "red",
        os.environ["PATH"],
        str(tmp_path / "here"),
    ]


def test_a_missing_command_is_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        RheostatError, match=r"^cannot start /no/such/program: No such file or directory$"
    ):
        Child(["/no/such/program"], log=tmp_path / "log")
