"""The processes of executors on this computer, of whichever cluster."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain

import psutil

BACKENDS = frozenset(
    {
        "org.apache.spark.executor.CoarseGrainedExecutorBackend",
        "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend",
        "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
    }
)
"""The main class of an executor on Standalone, YARN and Kubernetes."""


def executors_under(parents: Collection[int]) -> list[psutil.Process]:
    """List the executors among what these processes have started, oldest first; a child that one
    has just forked looks like it and is none.
    """
    executors = {
        process.pid: process
        for process in filter(_is_executor, chain.from_iterable(map(_descendants, parents)))
    }
    own = [process for process in executors.values() if _parent(process) not in executors]
    return sorted(own, key=lambda process: process.create_time())


def executor_id(process: psutil.Process) -> str | None:
    """Return Spark's name of the executor of a process; None for another process."""
    try:
        words = process.cmdline()
    except psutil.Error:
        return None
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


def _is_executor(process: psutil.Process) -> bool:
    try:
        return not BACKENDS.isdisjoint(process.cmdline())
    except psutil.Error:
        return False
