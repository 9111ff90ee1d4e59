"""How busy this computer is while something runs, looked at every two seconds."""

from __future__ import annotations

import os
import threading
import time
from typing import NamedTuple

import psutil

from rheostat_lab.report.finished_run import MachineSample

EVERY_S = 2.0
"""A look costs 2 ms of CPU for each dozen of our processes."""

_Process = tuple[int, float]


class Spent(NamedTuple):
    """CPU seconds at a moment: of the whole computer, in use and possible, and of each of our
    processes (id and start).
    """

    t_s: float
    used_s: float
    possible_s: float
    own_s: dict[_Process, float]


class MachineWatch:
    """Samples from the entry of its context to the end; of ours are this process and all that it
    has started. Fails when: a process of ours begins and ends between two looks; it is counted with
    the others.
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
    """Return how busy the computer was between two looks, per core."""
    possible_s = max(now.possible_s - before.possible_s, 1e-9)
    own_s = sum(
        # A process that is new since has used all of its time since.
        max(0.0, cpu_s - before.own_s.get(process, 0.0))
        for process, cpu_s in now.own_s.items()
    )
    cpu = min(1.0, max(0.0, (now.used_s - before.used_s) / possible_s))
    # Cut: the two counters are read a moment apart, and a part cannot exceed the whole.
    return MachineSample(now.t_s, cpu, min(cpu, own_s / possible_s), load)


def spent() -> Spent:
    """Return the CPU seconds up to now."""
    times = psutil.cpu_times()
    waiting_s = times.idle + getattr(times, "iowait", 0.0)
    # Linux counts the time of guests twice, in ``user`` too.
    possible_s = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return Spent(time.time(), possible_s - waiting_s, possible_s, _own_s())


def load_per_core() -> float | None:
    """Return the load average of a minute over the cores; None where there is none."""
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
        except psutil.Error:  # it has ended meanwhile
            continue
    return cpu_s
