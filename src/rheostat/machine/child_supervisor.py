"""Runs a command that cannot outlive its parent: ``python child_supervisor.py -- COMMAND``.

It starts the command in a new session and prints its process ID; the command's output goes to
standard error. It ends the session (SIGTERM, after 8 s SIGKILL) when its standard input closes
(which the kernel guarantees however the parent dies), when its parent changes, on SIGTERM, and when
the command has ended. Exit codes: the command's, 128 + n for signal n, 127 if it did not start. It
ignores Ctrl-C and uses only the standard library, to start quickly.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

GRACE_S = 8.0
POLL_S = 0.05
ADOPTION_CHECK_S = 2.0


def main(arguments: list[str]) -> int:
    """Run the command after ``--`` and return its exit code."""
    # Read this first: if the parent dies now, the loop below detects the new parent ID.
    parent = os.getppid()
    woken, wakeup = os.pipe()
    # A signal handler must never block on a full pipe.
    os.set_blocking(wakeup, False)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    terminated: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: terminated.append(1))
    # Use handlers that do nothing: the command would inherit SIG_IGN.
    for passed_over in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
        signal.signal(passed_over, lambda *_: None)
    try:
        command = subprocess.Popen(
            arguments[1:], stdin=subprocess.DEVNULL, stdout=2, stderr=2, start_new_session=True
        )
    except OSError as error:
        os.write(1, f"cannot start {arguments[1]}: {error.strerror}\n".encode())
        return 127
    # Printed at once and unbuffered: the parent waits for this line.
    with contextlib.suppress(BrokenPipeError):  # it has died; the loop below ends the command
        os.write(1, f"{command.pid}\n".encode())
    while (
        command.poll() is None
        and not terminated
        and os.getppid() == parent
        and not _parent_closed(woken)
    ):
        pass
    _end(command)
    return command.returncode if command.returncode >= 0 else 128 - command.returncode


def _parent_closed(woken: int) -> bool:
    """Wait for an event and return whether it was the end of standard input."""
    # The timeout covers a parent that died while a fork of it still holds the pipe.
    ready, _, _ = select.select([0, woken], [], [], ADOPTION_CHECK_S)
    if woken in ready:
        os.read(woken, 4096)
    return 0 in ready and not os.read(0, 4096)


def _end(command: subprocess.Popen[bytes]) -> None:
    """End every process of the session: SIGTERM, then SIGKILL after the grace period."""
    _signal_all(command, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while time.monotonic() < deadline and (command.poll() is None or members(command.pid)):
        time.sleep(POLL_S)
    # There is no deadline: no process may survive its supervisor.
    while command.poll() is None or members(command.pid):
        _signal_all(command, signal.SIGKILL)
        time.sleep(POLL_S)


def _signal_all(command: subprocess.Popen[bytes], signal_: signal.Signals) -> None:
    for pid in members(command.pid) or ([command.pid] if command.poll() is None else []):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal_)


def members(session: int) -> list[int]:
    """Return the IDs of a session's live processes; Spark's Python daemon stays in it, too."""
    try:
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    except OSError:  # no /proc, such as macOS
        pids = [
            int(pid)
            for pid in subprocess.run(
                ["ps", "-A", "-o", "pid="], capture_output=True, text=True
            ).stdout.split()
        ]
    return [pid for pid in pids if _session(pid) == session and not _is_zombie(pid)]


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _is_zombie(pid: int) -> bool:
    """Return whether the process has ended but was not yet reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except (OSError, IndexError):
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
