"""The job as a local process: the same command line again, with the folder of the control channel
in its environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence

import psutil

from rheostat.journal.control_channel import VARIABLE, ControlChannel, Order
from rheostat.restart.restart_conditions import ALIVE, LEFT, NONE

STOP_GRACE_S = 40.0
"""A cluster of ours and its driver end within this; then they are killed."""

_POLL_S = 0.1


class ProcessJob:
    """``arguments`` are those of ``rheostat``; what the script prints is not touched.

    The process ends by itself when this one has gone (``machine/orderly_end.py``).
    """

    def __init__(self, arguments: Sequence[str], channel: ControlChannel) -> None:
        self._command = [sys.executable, "-m", "rheostat.cli", *arguments]
        self._channel = channel
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, order: Order) -> None:
        """Start it with an order; a process that an earlier supervisor has left ends first."""
        self._end_left_over()
        self._channel.give(order)
        environment = {**os.environ, VARIABLE: str(self._channel.folder)}
        self._process = subprocess.Popen(self._command, env=environment)

    def process(self) -> str:
        """Tell whether it was started by this supervisor and runs: none, alive, left."""
        if self._process is None:
            return NONE
        return ALIVE if self._process.poll() is None else LEFT

    def stop(self) -> int:
        """End it if it runs, and return its exit code; 0 where none was started."""
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
        """Wait for a process whose supervisor was killed: it ends by itself within a second or
        two of that, and its cluster with it.
        """
        report = self._channel.report()
        deadline = time.monotonic() + STOP_GRACE_S
        while report and is_running(report.pid, report.began):
            if time.monotonic() > deadline:
                psutil.Process(report.pid).kill()
            time.sleep(_POLL_S)


def is_running(pid: int, began: str) -> bool:
    """Tell whether the process runs that had this number when it began, as its system says it."""
    try:
        process = psutil.Process(pid)
        return str(process.create_time()) == began and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
