from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from rheostat.machine.orderly_end import orderly_end, unchanged, undisturbed

WAITING = """
import select, signal, sys
from rheostat.machine.orderly_end import orderly_end
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)  # a shell starts its background jobs with SIGINT ignored
if "nohup" in sys.argv:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
with orderly_end():
    try:
        print("ready", flush=True)
        while True:  # a signal that comes just before a blocking read is heard after it
            if select.select([sys.stdin], [], [], 0.05)[0]:
                print("heard", sys.stdin.readline().strip(), flush=True)
    finally:
        print("unwinds", flush=True)
        if "slow" in sys.argv:
            sys.stdin.readline()
        print("unwound", flush=True)
"""
PARENT = """
import subprocess, sys
child = "import rheostat.machine.orderly_end as s, time; s._POLL_S = 0.01\\nwith s.orderly_end(with_parent=True):\\n" \\
    "    try:\\n        print('ready', flush=True); time.sleep(60)\\n    finally:\\n        print('unwound', flush=True)"
subprocess.Popen([sys.executable, "-c", child])
sys.stdin.readline()
"""  # noqa: E501


def start(*arguments: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert read_line(process) == "ready"
    return process


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def write_line(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_unwinds_the_started_resources(number):
    with start() as process:
        process.send_signal(number)
        assert [read_line(process), read_line(process)] == ["unwinds", "unwound"]
        assert process.wait(60) == 128 + number


def test_a_second_signal_does_not_interrupt_the_unwinding():
    with start("slow") as process:
        process.send_signal(signal.SIGTERM)
        assert read_line(process) == "unwinds"
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process.send_signal(number)
        write_line(process, "go on")
        assert read_line(process) == "unwound"
        assert process.wait(60) == 128 + signal.SIGTERM


def test_an_ignored_hangup_stays_ignored():
    with start("nohup") as process:
        process.send_signal(signal.SIGHUP)
        write_line(process, "still here")
        assert read_line(process) == "heard still here"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM


def test_the_death_of_the_parent_unwinds():
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert read_line(parent) == "ready"
        parent.kill()
        assert parent.stdout is not None
        assert (
            parent.stdout.read() == "unwound\n"
        )  # the read ends only when the child has closed its end


def test_previous_signal_handlers_are_restored():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]

    def interrupted() -> None:
        with orderly_end():
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(SystemExit) as exit_info:
        interrupted()
    assert exit_info.value.code == 128 + signal.SIGTERM
    assert [
        signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ] == before


def test_undisturbed_code_receives_no_signal():
    with undisturbed():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN


def test_a_library_cannot_replace_the_signal_handlers():
    with orderly_end():
        ours = signal.getsignal(signal.SIGINT)
        with unchanged():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        assert signal.getsignal(signal.SIGINT) is ours
