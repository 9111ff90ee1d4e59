"""A script under ``rheostat run --actuator restart``, controlled by a test."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark import __version__ as pyspark_version

from rheostat.journal.control_channel import FOLDER
from rheostat.restart.restart_state import RestartLog, RestartState

DEADLINE_S = 240.0
RESCALES = pyspark_version >= "4.3"
needs_rescaling = pytest.mark.skipif(not RESCALES, reason="other state partitions need PySpark 4.3")
QUICK_START = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"


class Supervised:
    """``script`` in ``folder``, which is its first argument, before ``arguments``; ``options`` are
    those of the command. It ends when the file ``enough`` exists.
    """

    def __init__(
        self, folder: Path, script: str, *options: str, arguments: tuple[str, ...] = ()
    ) -> None:
        self.folder, self.journal = folder, folder / "journal"
        (folder / "app.py").write_text(script)
        usual = ["--actuator", "restart", "--local", "2", "--max", "2", "--interval", "1"]
        usual += ["--restart-pause", "3600", "--journal", str(self.journal)]
        job = [str(folder / "app.py"), "--", str(folder), *arguments]
        self.errors = (folder / "errors").open("a")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rheostat.cli", "run", *usual, *options, *job],
            stderr=self.errors,
            env={**os.environ, "PYSPARK_SUBMIT_ARGS": QUICK_START},
        )

    def __enter__(self) -> Supervised:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        self.errors.close()

    def state(self) -> RestartState:
        return RestartLog(self.journal / FOLDER).last() or RestartState()

    def restarts(self) -> list[RestartState]:
        return RestartLog(self.journal / FOLDER).restarts()

    def until(self, what: str, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not reached():
            log_end = (self.folder / "errors").read_text()[-3000:]
            assert self.process.poll() is None, f"it ended before {what}: {log_end}"
            assert time.monotonic() < deadline, f"not within {DEADLINE_S:g} s: {what}: {log_end}"
            time.sleep(0.2)

    def restarted(self) -> None:
        """Wait until it has been restarted once and runs."""
        self.until("the restart", lambda: self.state().restarts == 1)
        self.until("the start", lambda: self.state().phase == "running")

    def enough(self) -> None:
        """Stop the script, and with it the supervisor."""
        (self.folder / "enough").touch()
        assert self.process.wait(DEADLINE_S) == 0


def rheostat(*arguments: str) -> str:
    """Run a command and return its output."""
    command = [sys.executable, "-m", "rheostat.cli", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
