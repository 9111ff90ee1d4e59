"""The processes of executors on this computer, of any kind of cluster."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain

import psutil

from rheostat.local.standalone_cluster import command_line

SMALL = {"spark.executor.memory": "512m"}
"""The heap of executors of which many share this computer."""

BACKENDS = frozenset(
    {
        "org.apache.spark.executor.CoarseGrainedExecutorBackend",
        "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend",
        "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
    }
)
"""The main class of an executor on Standalone, YARN and Kubernetes."""


def executors_under(parents: Collection[int]) -> list[psutil.Process]:
    """Return the executors that the processes ``parents`` started, oldest first, without forks."""
    executors = {
        process.pid: process
        for process in chain.from_iterable(map(_descendants, parents))
        if not BACKENDS.isdisjoint(command_line(process))
    }
    own = [process for process in executors.values() if _parent(process) not in executors]
    return sorted(own, key=lambda process: process.create_time())


def executor_id(process: psutil.Process) -> str | None:
    """Return Spark's executor ID of a process; None if it is not an executor."""
    words = command_line(process)
    after = words[words.index("--executor-id") + 1 :] if "--executor-id" in words else []
    return after[0] if after else None


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _parent(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.NoSuchProcess:
        return None
