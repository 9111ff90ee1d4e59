"""What executors on this computer use, told by its operating system: CPU of their JVMs and of their
Python workers, and its load.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_BACKEND = b"CoarseGrainedExecutorBackend"
_MOST_PROCESSES = 1000
"""Reading a process costs 30 microseconds; where there are more, nothing is read."""


@dataclass(frozen=True, slots=True)
class Used:
    """CPU seconds of an executor since its start: of its JVM, and of the processes below it."""

    jvm_s: float
    python_s: float


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    name: str
    own_s: float
    reaped_s: float
    """Of children that have ended."""


class LocalExecutors:
    """Finds the executors of an application among the processes of this computer (Linux:
    ``/proc``).
    """

    def __init__(self, application: str, proc: Path = _PROC) -> None:
        self._application = application.encode()
        self._proc = proc
        self._tick_s = 1.0 / os.sysconf("SC_CLK_TCK")
        self._names: dict[int, str] = {}
        """Executor by process."""

    def used(self) -> dict[str, Used]:
        """Return what each executor that runs here has used, by its id; nothing where none does, or
        where there is no ``/proc``.
        """
        processes = dict(self._processes())
        self._names = {
            pid: name
            for pid, candidate in processes.items()
            # A process that is known is not read again: its command line costs more than its
            # numbers.
            if (name := self._names.get(pid) or self._executor(pid, candidate))
        }
        below: dict[str, float] = {}
        for process in processes.values():
            owner = self._owner(process.parent, processes)
            if owner is not None:
                # What ended workers have used stands with their parent, so that the sum never
                # falls.
                below[owner] = below.get(owner, 0.0) + process.own_s + process.reaped_s
        return {
            name: Used(processes[pid].own_s, below.get(name, 0.0))
            for pid, name in self._names.items()
        }

    def _owner(self, pid: int, processes: Mapping[int, _Process]) -> str | None:
        """Return the executor that a process is below of."""
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
                # A process may have brackets in its name, so the fields are counted from the last
                # one.
                head, _, rest = (self._proc / str(pid) / "stat").read_text().rpartition(")")
                fields = (
                    rest.split()
                )  # from the state on: parent, ..., utime, stime, cutime, cstime
                user, system, user_ended, system_ended = (
                    int(field) * self._tick_s for field in fields[11:15]
                )
                yield (
                    pid,
                    _Process(
                        int(fields[1]),
                        head.partition("(")[2],
                        user + system,
                        user_ended + system_ended,
                    ),
                )
            except (OSError, ValueError, IndexError):
                continue  # the process ended while we looked

    def _executor(self, pid: int, process: _Process) -> str | None:
        """Return the id in the command line of an executor of our application; None for any other
        process.
        """
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
    """Return the processes that ran or waited for a CPU, mean of a minute, over the cores of this
    computer; None where it cannot be told.

    Source: the load of K 2.4.1, as ``getloadavg`` has it.
    """
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:
        return None
