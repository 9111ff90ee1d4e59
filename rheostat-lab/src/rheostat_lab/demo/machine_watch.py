"""How busy this machine is during a run, sampled every two seconds."""

from __future__ import annotations

import os
import threading
import time
from typing import NamedTuple

import psutil

from rheostat_lab.report.finished_run import MachineSample

EVERY_S = 2.0
"""Seconds between two samples; a sample costs 2 ms of CPU per dozen of our processes."""

_Process = tuple[int, float]


class Spent(NamedTuple):
    """CPU seconds up to a moment: used and possible ones of the machine, and those of each of our
    processes (id and start).
    """

    t_s: float
    used_s: float
    possible_s: float
    own_s: dict[_Process, float]


class MachineWatch:
    """Samples from the entry of its context to its end. Ours are this process and its descendants.
    Fails when one of them starts and ends between two samples: it counts as a foreign process.
    """

    def __init__(self) -> None:
        self.samples: list[MachineSample] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="machine-watch", daemon=True)

    def _look(self) -> None:
        before = spent()
        while not self._over.wait(EVERY_S):
            now = spent()
            self.samples.append(sample(before, now, load_per_core()))
            before = now

    def __enter__(self) -> MachineWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def sample(before: Spent, now: Spent, load: float | None) -> MachineSample:
    """Return how busy the machine was between two samples, per core."""
    possible_s = max(now.possible_s - before.possible_s, 1e-9)
    own_s = sum(
        # A new process has used all its time since the previous sample.
        max(0.0, cpu_s - before.own_s.get(process, 0.0))
        for process, cpu_s in now.own_s.items()
    )
    cpu = min(1.0, max(0.0, (now.used_s - before.used_s) / possible_s))
    # Limited, because the counters are read one after the other and a part cannot exceed the total.
    return MachineSample(now.t_s, cpu, min(cpu, own_s / possible_s), load)


def spent() -> Spent:
    """Return the CPU seconds used so far."""
    times = psutil.cpu_times()
    waiting_s = times.idle + getattr(times, "iowait", 0.0)
    # Linux counts guest time twice, because ``user`` includes it.
    possible_s = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return Spent(time.time(), possible_s - waiting_s, possible_s, _own_s())


def load_per_core() -> float | None:
    """Return the load average of a minute divided by the cores; None if it is unavailable."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:
        return None


def _own_s() -> dict[_Process, float]:
    this = psutil.Process()
    cpu_s: dict[_Process, float] = {}
    for process in (this, *this.children(recursive=True)):
        try:
            with process.oneshot():
                times = process.cpu_times()
                cpu_s[process.pid, process.create_time()] = times.user + times.system
        except psutil.Error:  # the process has ended meanwhile
            continue
    return cpu_s
