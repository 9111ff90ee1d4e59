"""CPU of the executors' JVMs and Python workers on this computer, and its load average."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_BACKEND = b"CoarseGrainedExecutorBackend"
_MOST_PROCESSES = 1000
"""Reading one process takes 30 microseconds; with more processes than this none is read."""


@dataclass(frozen=True, slots=True)
class Used:
    """CPU seconds of an executor since its start: of its JVM, and of its child processes."""

    jvm_s: float
    python_s: float


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    name: str
    own_s: float
    reaped_s: float
    """CPU seconds of its children that have ended."""


class LocalExecutors:
    """Finds an application's executors among this computer's processes (``/proc``)."""

    def __init__(self, application: str, proc: Path = _PROC) -> None:
        self._application = application.encode()
        self._proc = proc
        self._tick_s = 1.0 / os.sysconf("SC_CLK_TCK")
        self._names: dict[int, str] = {}
        """The executor id by process id."""

    def used(self) -> dict[str, Used]:
        """Return the usage of each local executor by id; empty without any or ``/proc``."""
        processes = dict(self._processes())
        self._names = {
            pid: name
            for pid, candidate in processes.items()
            # A known command line is not read again: it costs more than the statistics.
            if (name := self._names.get(pid) or self._executor(pid, candidate))
        }
        below: dict[str, float] = {}
        for process in processes.values():
            owner = self._owner(process.parent, processes)
            if owner is not None:
                # The CPU time of ended workers is included, so that the sum never decreases.
                below[owner] = below.get(owner, 0.0) + process.own_s + process.reaped_s
        return {
            name: Used(processes[pid].own_s, below.get(name, 0.0))
            for pid, name in self._names.items()
        }

    def process_id(self, executor: str) -> int | None:
        """Return the process id of a local executor's JVM; None if it is not one."""
        self.used()
        return next((pid for pid, name in self._names.items() if name == executor), None)

    def _owner(self, pid: int, processes: Mapping[int, _Process]) -> str | None:
        """Return the executor that a process belongs to."""
        while pid in processes and pid not in self._names:
            pid = processes[pid].parent
        return self._names.get(pid)

    def _processes(self) -> Iterator[tuple[int, _Process]]:
        try:
            ids = [int(entry.name) for entry in self._proc.iterdir() if entry.name.isdigit()]
        except OSError:
            return
        for pid in ids if len(ids) <= _MOST_PROCESSES else ():
            try:
                # A process name may contain brackets, so the fields follow the last one.
                head, _, rest = (self._proc / str(pid) / "stat").read_text().rpartition(")")
                # The fields start with the state; 11 to 14 are utime, stime, cutime and cstime.
                fields = rest.split()
                user, system, user_ended, system_ended = (
                    int(field) * self._tick_s for field in fields[11:15]
                )
                name, ended_s = head.partition("(")[2], user_ended + system_ended
                yield pid, _Process(int(fields[1]), name, user + system, ended_s)
            except (OSError, ValueError, IndexError):
                continue  # the process has ended in the meantime

    def _executor(self, pid: int, process: _Process) -> str | None:
        """Return the executor id of a process of this application; None for any other."""
        if process.name != "java":
            return None
        try:
            words = (self._proc / str(pid) / "cmdline").read_bytes().split(b"\0")
        except OSError:
            return None
        if (
            not any(word.endswith(_BACKEND) for word in words)
            or self._application not in words
            or b"--executor-id" not in words[:-1]
        ):
            return None
        return words[words.index(b"--executor-id") + 1].decode()


def load_per_core() -> float | None:
    """Return the one-minute load average per core, waiting processes included, or None."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:
        return None
