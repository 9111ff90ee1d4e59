"""A Spark Standalone cluster with a worker on each of several hosts, and its executors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import psutil

from rheostat.local import standalone_cluster
from rheostat.local.standalone_cluster import DEFAULT_MEMORY_MIB
from rheostat.machine.free_ports import LOOPBACK
from rheostat_lab.clusters.executor_processes import executors_under

HOSTS = (LOOPBACK, "127.0.0.2", "127.0.0.3")
"""Loopback addresses of this computer that are three hosts to Spark."""


class Cluster(standalone_cluster.Cluster):
    """A master and workers with ``cores`` cores in total; each of ``hosts`` is a loopback address
    with one worker.
    """

    def __init__(
        self,
        cores: int = 8,
        memory_mib: int = DEFAULT_MEMORY_MIB,
        hosts: Sequence[str] = (LOOPBACK,),
    ) -> None:
        super().__init__(cores, memory_mib)
        self.hosts = tuple(hosts)

    @property
    def settings(self) -> dict[str, str]:
        """The settings that a session needs in addition to the master: none."""
        return {}

    @property
    def alive(self) -> bool:
        """Whether master and workers run."""
        return len(self._children) == 1 + len(self.hosts) and super().alive

    def executors(self) -> list[psutil.Process]:
        """List the processes of the executors, oldest first."""
        return executors_under([child.pid for child in self._children[1:]] if self.alive else [])

    def __enter__(self) -> Cluster:
        self.start()
        return self

    def _start_workers(self) -> None:
        cores = math.ceil(self.cores / len(self.hosts))
        for number, host in enumerate(self.hosts, 1):
            name = "worker" if len(self.hosts) == 1 else f"worker-{number}"
            self._start_worker(name, cores, host, number)
