"""A local YARN: Hadoop's ResourceManager and NodeManagers in one process, on loopback only."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from rheostat.errors import RheostatError
from rheostat.local.spark_home import SparkHome, driver_environment, find_spark_home
from rheostat.machine.orderly_end import undisturbed
from rheostat.machine.process import Child
from rheostat.machine.scratch_folder import ScratchFolder, state_folder
from rheostat_lab.clusters.cluster_kinds import ClusterKind, Report, Up, check_nodes
from rheostat_lab.clusters.cluster_logs import trouble
from rheostat_lab.clusters.executor_processes import SMALL, executors_under
from rheostat_lab.clusters.spark_defaults import write_defaults
from rheostat_lab.clusters.yarn import yarn_jars
from rheostat_lab.clusters.yarn.yarn_jars import CLASS, yarn_class_path
from rheostat_lab.services import own_folder, service

NAME = "cluster-yarn"
MASTER = "yarn"
START_DEADLINE_S = 180.0
POLL_S = 0.1
SPARE_CORES = 1
"""Cores in addition to those of the executors: the application master needs one."""

MEMORY_MIB = 1024
"""Memory of an executor including Spark's overhead, MiB; our executors request 896."""

_JVM = (
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    # Hadoop 3.3 generates classes of its web pages with an old cglib.
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)


class YarnCluster:
    """A ResourceManager and ``nodes`` NodeManagers with room for ``cores`` executors of one core,
    which end with this process, including containers and files.

    Raises BadInput without PySpark, without Java, or without a network at the first use;
    RheostatError if it does not respond within ``START_DEADLINE_S``.
    """

    url = MASTER

    def __init__(self, cores: int = 8, nodes: int = 1, memory_mib: int = MEMORY_MIB) -> None:
        check_nodes(cores, nodes)
        self.cores, self.nodes, self.memory_mib = cores, nodes, memory_mib
        self._home = find_spark_home()
        self._scratch: ScratchFolder | None = None
        self._child: Child | None = None

    @property
    def folder(self) -> Path:
        """The folder of logs, configuration and containers, removed with the cluster."""
        if self._scratch is None:
            self._scratch = ScratchFolder("yarn")
        return self._scratch.path

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of a session in addition to the master."""
        return session_settings(self._home, self.folder)

    @property
    def alive(self) -> bool:
        """Whether the cluster runs."""
        return self._child is not None and self._child.alive

    def driver_environment(self) -> dict[str, str]:
        """Return the environment variables that a driver needs; its temporary files are removed
        with the cluster.
        """
        return {
            **driver_environment(self._home.jdk, self.folder / "driver"),
            "HADOOP_CONF_DIR": str(self.folder / "conf"),
        }

    def executors(self) -> list[psutil.Process]:
        """Return the processes of the executors, oldest first."""
        return executors_under([self._child.pid]) if self._child and self.alive else []

    def lose(self, node: int) -> None:
        """End a NodeManager (from 0) with its containers, like a machine that fails."""
        (self.folder / f"lose-{node}").touch()

    def start(self) -> YarnCluster:
        """Start the cluster and wait until its nodes have registered; does nothing if it runs."""
        if self.alive:
            return self
        try:
            folder = self.folder
            self._child = Child(
                command(self._home, folder, self.cores, self.nodes, self.memory_mib),
                log=folder / "yarn.log",
                environment=self._home.environment(folder),
                folder=folder,
                holds=[self._scratch.lock] if self._scratch else (),
            )
            _wait(folder, lambda: self.alive)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End the cluster with all its containers, and remove its files."""
        if self._child:
            self._child.stop()
            self._child = None
        if self._scratch:
            self._scratch.remove()
            self._scratch = None

    def __enter__(self) -> YarnCluster:
        return self.start()

    def __exit__(self, *_: object) -> None:
        with undisturbed():
            self.stop()


def up(cores: int = 8, nodes: int = 1, memory_mib: int = MEMORY_MIB) -> Path:
    """Start a YARN that outlives this process and return its configuration folder; ``down`` ends
    it.

    The folder is the value for ``HADOOP_CONF_DIR`` and ``SPARK_CONF_DIR``. Raises like
    ``YarnCluster``, and BadInput if one is running.
    """
    check_nodes(cores, nodes)
    service.require_none(NAME)
    home = find_spark_home()
    folder = (state_folder() / NAME).resolve()
    own_folder.remove_marked(folder)
    own_folder.claim(folder, "the cluster's folder")
    try:
        service.start(
            NAME,
            command(home, folder, cores, nodes, memory_mib),
            url=MASTER,
            folder=folder,
            log=folder / "yarn.log",
            environment=home.environment(folder),
        )
        _wait(folder, lambda: service.find(NAME) is not None)
        settings = {"spark.master": MASTER, **SMALL, **session_settings(home, folder)}
        write_defaults(folder / "conf", settings)
    except BaseException:
        down()
        raise
    return folder / "conf"


def down() -> str | None:
    """End the YARN that ``up`` started with its containers, remove its files, and return its
    master; None if none was running.
    """
    ended = service.end(NAME)
    own_folder.remove_marked(state_folder() / NAME)
    return ended.url if ended else None


def command(home: SparkHome, folder: Path, cores: int, nodes: int, memory_mib: int) -> list[str]:
    """Return the command of a YARN whose files are in ``folder``."""
    node_cores = -(-cores // nodes) + SPARE_CORES
    sizes = [str(nodes), str(node_cores * memory_mib), str(node_cores)]
    words = [*_JVM, "-Djava.io.tmpdir=.", "-cp", yarn_class_path(home)]
    return [str(home.jdk.java), *words, CLASS, str(folder), *sizes]


def session_settings(home: SparkHome, folder: Path) -> dict[str, str]:
    """Return the settings of a session on a local YARN: nothing is copied into containers, and
    staged files are removed with the cluster.
    """
    return {
        "spark.yarn.jars": f"local:{home.folder / 'jars'}/*",
        "spark.yarn.stagingDir": (folder / "staging").as_uri(),
        "spark.yarn.populateHadoopClasspath": "false",
        "spark.yarn.am.memory": "384m",
        "spark.hadoop.fs.defaultFS": "file:///",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # A driver in the application master otherwise uses the address of its machine.
        "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1",
        # YARN needs the initial number of executors.
        "spark.dynamicAllocation.enabled": "false",
    }


def _wait(folder: Path, alive: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline and alive():
        if (folder / "conf" / "ready").exists():
            return
        time.sleep(POLL_S)
    how = f"is not ready after {START_DEADLINE_S:.0f} s" if alive() else "ended at its start"
    raise RheostatError(f"YARN {how}: {trouble(folder / 'yarn.log')}")


def _create(cores: int, nodes: int, report: Report) -> YarnCluster:
    _report_fetch(report)
    return YarnCluster(cores, nodes)


def _up(cores: int, nodes: int, report: Report) -> Up:
    _report_fetch(report)
    conf = str(up(cores, nodes))
    return Up("yarn", MASTER, {"HADOOP_CONF_DIR": conf, "SPARK_CONF_DIR": conf})


def _report_fetch(report: Report) -> None:
    if not yarn_jars.are_cached(find_spark_home()):
        report(yarn_jars.FETCH)


KIND = ClusterKind(create=_create, up=_up, down=down)
"""The entry point ``yarn`` of the group ``rheostat.clusters``."""
