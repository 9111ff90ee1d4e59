"""A Spark Standalone cluster on this computer's loopback: a master and its worker."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from rheostat.errors import BadInput, RheostatError
from rheostat.local.spark_home import SparkHome, driver_environment, find_spark_home
from rheostat.machine.free_ports import LOOPBACK, free_port
from rheostat.machine.orderly_end import undisturbed
from rheostat.machine.process import Child
from rheostat.machine.scratch_folder import ScratchFolder
from rheostat.spark.sensing.rest import read_json

START_DEADLINE_S = 90.0
POLL_S = 0.1
DEFAULT_MEMORY_MIB = 1024
"""Memory per executor that workers account for: Spark's default, more than ours request."""

# Cores are only accounted for and cost nothing; this limit catches typing errors.
MOST_CORES = 10_000

_DRIVER_PROGRAMS = ("org.apache.spark.deploy.SparkSubmit", "spark-submit")
_GRACE_S = 8.0

_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"


class Cluster:
    """A master and a worker with ``cores`` cores; they and their files end with this process.

    The worker accounts for ``memory_mib`` per executor. Raises ``BadInput`` without PySpark or
    Java; ``RheostatError`` after ``START_DEADLINE_S``.
    """

    def __init__(self, cores: int = 8, memory_mib: int = DEFAULT_MEMORY_MIB) -> None:
        check_cores(cores)
        self.cores = cores
        self.memory_mib = memory_mib
        self.port, self.ui_port = free_port(), free_port()
        self._home = find_spark_home()
        self._scratch: ScratchFolder | None = None
        self._children: list[Child] = []

    @property
    def url(self) -> str:
        """The master URL: ``spark://127.0.0.1:port``."""
        return url_of(self.port)

    @property
    def alive(self) -> bool:
        """Whether master and worker run."""
        return len(self._children) > 1 and all(child.alive for child in self._children)

    def driver_environment(self) -> dict[str, str]:
        """Return the environment that a driver of this cluster needs."""
        return driver_environment(self._home.jdk, self.folder / "driver")

    @property
    def folder(self) -> Path:
        """The folder of logs and executors' files, which is removed with the cluster."""
        return self._kept().path

    def _kept(self) -> ScratchFolder:
        if self._scratch is None:
            self._scratch = ScratchFolder("cluster")
        return self._scratch

    def start(self) -> Cluster:
        """Start master and worker and wait until they have registered; idempotent."""
        if self.alive:
            return self
        try:
            self._start_child(
                "master",
                master_command(self._home, self.port, self.ui_port),
                lambda: listens(self.ui_port),
            )
            self._start_workers()
        except BaseException:
            self.stop()
            raise
        return self

    def _start_workers(self) -> None:
        self._start_worker("worker", self.cores)

    def _start_worker(self, name: str, cores: int, host: str = LOOPBACK, number: int = 1) -> None:
        command = worker_command(self._home, self.port, cores, self.memory_mib, self.folder, host)
        self._start_child(name, command, lambda: registered(self.ui_port, number), host)

    def _start_child(
        self, name: str, command: list[str], ready: Callable[[], bool], host: str = LOOPBACK
    ) -> None:
        log = self.folder / f"{name}.log"
        environment = {
            **self._home.environment(self.folder),
            "SPARK_LOCAL_IP": host,
            "SPARK_PUBLIC_DNS": host,
        }
        lock = self._kept().lock
        child = Child(command, log=log, environment=environment, folder=self.folder, holds=[lock])
        self._children.append(child)
        wait_for(name, ready, lambda: child.alive, log)

    def stop(self) -> None:
        """Stop worker and master with all executors, and remove their files."""
        while self._children:
            self._children.pop().stop()
        if self._scratch:
            self._scratch.remove()
            self._scratch = None

    def __enter__(self) -> Cluster:
        return self.start()

    def __exit__(self, *_: object) -> None:
        with undisturbed():
            self.stop()


def master_command(home: SparkHome, port: int, ui_port: int) -> list[str]:
    """Return the command of a master on loopback."""
    return home.daemon(
        _MASTER, "--host", LOOPBACK, "--port", str(port), "--webui-port", str(ui_port)
    )


def worker_command(
    home: SparkHome, port: int, cores: int, memory_mib: int, folder: Path, host: str = LOOPBACK
) -> list[str]:
    """Return the command of a worker of the master at ``port`` with files in ``folder``."""
    size = ("--cores", str(cores), "--memory", f"{cores * memory_mib}m")
    place = ("--host", host, "--webui-port", "0", "--work-dir", str(folder / f"work-{host}"))
    return home.daemon(_WORKER, *place, *size, url_of(port))


def url_of(port: int) -> str:
    """Return the address of a master on loopback."""
    return f"spark://{LOOPBACK}:{port}"


def listens(ui_port: int) -> bool:
    """Return whether the master answers; a worker that starts earlier retries after 5 s."""
    return _status(ui_port) is not None


def registered(ui_port: int, workers: int = 1) -> bool:
    """Return whether at least ``workers`` workers have registered with the master."""
    listed: list[dict[str, str]] = (_status(ui_port) or {}).get("workers", [])
    return sum(worker["state"] == "ALIVE" for worker in listed) >= workers


def _status(ui_port: int) -> Any:
    """Return the master's status; None if it does not answer."""
    return read_json(f"http://{LOOPBACK}:{ui_port}/json/", 10.0)


def wait_for(name: str, ready: Callable[[], bool], alive: Callable[[], bool], log: Path) -> None:
    """Wait until ready; raise ``RheostatError`` if the process ends or at the deadline."""
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline and alive():
        if ready():
            return
        time.sleep(POLL_S)
    how = f"is not ready after {START_DEADLINE_S:.0f} s" if alive() else "ended at its start"
    raise RheostatError(f"the Spark {name} {how}: {_trouble(log)}")


def _trouble(log: Path) -> str:
    """Return the most informative error line of a log."""
    try:
        lines = [
            line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()
        ]
    except OSError:
        lines = []
    errors = [line for line in lines if "Exception" in line or "ERROR" in line or "Error" in line]
    return ((errors or lines or ["no output"])[-1])[:300]


def check_cores(cores: int) -> None:
    """Raise ``BadInput`` for a number of cores that a worker cannot have."""
    if cores < 1:
        raise BadInput(f"a cluster needs at least 1 core, but {cores} were requested")
    if cores > MOST_CORES:
        raise BadInput(f"a cluster here has at most {MOST_CORES} cores, but {cores} were requested")


def end_driver() -> None:
    """End the JVMs that PySpark started in this process (SIGTERM, after 8 s SIGKILL).

    They outlive Python by about a second and could write into removed folders. This process cannot
    start a session afterwards.
    """
    doomed = [
        process
        for child in psutil.Process().children()
        if any(word.endswith(_DRIVER_PROGRAMS) for word in command_line(child))
        for process in (child, *child.children(recursive=True))
    ]
    for signal_ in (signal.SIGTERM, signal.SIGKILL):
        for process in doomed:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal_)
        _, doomed = psutil.wait_procs(doomed, timeout=_GRACE_S)


def command_line(process: psutil.Process) -> list[str]:
    """Return the command line of a process; empty once it has ended."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []
