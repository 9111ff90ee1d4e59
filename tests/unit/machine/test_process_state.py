"""Whether a process still runs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from rheostat.machine.process_state import runs

HERE = socket.gethostname()


def test_this_process_runs_and_is_not_one_that_had_its_number_before():
    assert runs(HERE, os.getpid(), time.time()) is True
    assert runs(HERE, os.getpid(), time.time() - 1e6) is (not Path("/proc/self/stat").exists())


def test_a_process_that_has_ended_does_not_run_reaped_or_not():
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read()  # its end closes the pipe
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert runs(HERE, child.pid, time.time()) is False
    child.wait()
    child.stdout.close()
    assert runs(HERE, child.pid, time.time()) is False


def test_nothing_is_known_of_other_computers():
    assert runs("elsewhere", os.getpid(), time.time()) is None
    assert runs(HERE, None, 0.0) is None
