"""The job as a local process: the same command line again, with the folder of the control channel
in its environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Literal

import psutil

from rheostat.journal.control_channel import VARIABLE, ControlChannel, Order

STOP_GRACE_S = 40.0
"""The local cluster and its driver end within this time; then they are killed."""

_POLL_S = 0.1


class ProcessJob:
    """Runs ``rheostat`` with ``arguments`` in a child process, which keeps its standard output.

    The child ends by itself when this process has ended (``machine/orderly_end.py``).
    """

    def __init__(self, arguments: Sequence[str], channel: ControlChannel) -> None:
        self._command = [sys.executable, "-m", "rheostat.cli", *arguments]
        self._channel = channel
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, order: Order) -> None:
        """Start the process with an order, after the end of one left by an earlier supervisor."""
        self._end_left_over()
        self._channel.give(order)
        environment = {**os.environ, VARIABLE: str(self._channel.folder)}
        self._process = subprocess.Popen(self._command, env=environment)

    def process(self) -> Literal["none", "alive", "ended"]:
        """Return whether this supervisor has started the process, and whether it runs."""
        if self._process is None:
            return "none"
        return "alive" if self._process.poll() is None else "ended"

    def stop(self) -> int:
        """End the process if it runs, and return its exit code; 0 where none was started."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_GRACE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        code = self._process.wait()
        return code if code >= 0 else 128 - code

    def _end_left_over(self) -> None:
        """Wait for the process of a killed supervisor, which ends with its cluster within a second
        or two; kill it after the grace period.
        """
        report = self._channel.report()
        deadline = time.monotonic() + STOP_GRACE_S
        while report and is_running(report.pid, report.began):
            if time.monotonic() > deadline:
                psutil.Process(report.pid).kill()
            time.sleep(_POLL_S)


def is_running(pid: int, began: str) -> bool:
    """Return whether the process with this id and this creation time still runs."""
    try:
        process = psutil.Process(pid)
        return str(process.create_time()) == began and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
