"""The settings without which executors cannot come and go, on any cluster: none of them can be made
later.
"""

from __future__ import annotations

from rheostat.model import Limits
from rheostat.spark.settings.static_settings import Wanted

CORES, CORES_MAX = "spark.executor.cores", "spark.cores.max"
INSTANCES = "spark.executor.instances"
ALLOCATION = "spark.dynamicAllocation."
ENABLED = ALLOCATION + "enabled"
LEAST, MOST = ALLOCATION + "minExecutors", ALLOCATION + "maxExecutors"
INITIAL = ALLOCATION + "initialExecutors"
TRACKING = ALLOCATION + "shuffleTracking.enabled"
MOVING = (ALLOCATION + "schedulerBacklogTimeout", ALLOCATION + "executorIdleTimeout")
"""The time-outs by which Spark itself changes the size."""

_IDLE = tuple(
    ALLOCATION + name
    for name in (
        "sustainedSchedulerBacklogTimeout",
        "cachedExecutorIdleTimeout",
        "shuffleTracking.timeout",
    )
)
LINGER = "spark.test.executor.decommission.initial.sleep.millis"
FAILURES = "spark.executor.maxNumFailures"
NEVER = "1000000s"
LINGER_S = 5.0
"""Longer than most batches.

With Spark's own 1 s, six cycles 3 -> 1 of an aggregation failed 0 to 2 tasks each; with 5 s none.
"""

_STILL = "never: only Rheostat changes the size"


def leaving(linger_s: float = LINGER_S) -> dict[str, Wanted]:
    """Return what lets executors leave without a failed task.

    Migrating blocks keeps leaving executors alive for many batches, so only the executors are
    decommissioned. ``linger_s`` is how long one that was asked to leave stays at least: while a
    batch with a shuffle runs, its tasks still read what this executor has written.
    """
    return {
        "spark.decommission.enabled": Wanted(
            "true", "an executor that leaves ends its tasks first"
        ),
        LINGER: Wanted(
            str(round(linger_s * 1000)),
            "ms that it stays: the running batch reads what it wrote",
        ),
    }


def shape(cores: int) -> dict[str, Wanted]:
    """Return the size of an executor on a Standalone cluster."""
    why = "else an executor takes a whole worker of a Standalone cluster"
    return {CORES: Wanted(str(cores), why)}


def ceiling(executors: int, cores: int) -> dict[str, Wanted]:
    """Return the ceiling as a Standalone cluster knows it: whatever goes wrong, the application
    gets no more.
    """
    why = f"the ceiling: room for {executors} executors"
    return {CORES_MAX: Wanted(str(executors * cores), why)}


def beginning(initial: int) -> dict[str, Wanted]:
    """Return the number of executors to start with, where there is no dynamic allocation."""
    return {INSTANCES: Wanted(str(initial), "the number of executors to start with")}


def failures() -> dict[str, Wanted]:
    """Return how many failed executors the application bears on YARN and Kubernetes.

    Spark's own number is twice the executors that it was started with, 3 at least, over its whole
    life: an application that began small and has run for weeks ends by it.
    """
    return {
        FAILURES: Wanted("100", "an application that begins small bears no more than 3 else"),
        "spark.executor.failuresValidityInterval": Wanted("10m", "those of the last ten minutes"),
    }


def allocation(limits: Limits, initial: int) -> dict[str, Wanted]:
    """Return dynamic allocation that never moves by itself.

    Only with it does a Standalone application start with fewer executors than the cluster has room
    for. Its floor is the initial size because its target falls to the floor otherwise
    (``ExecutorAllocationManager.updateAndSyncNumExecutorsTarget``); what we ask for later is not
    bound by it.
    """
    return {
        ENABLED: Wanted("true", "else a Standalone application starts with all it may have"),
        INITIAL: Wanted(str(initial), "the number of executors to start with"),
        LEAST: Wanted(str(initial), "Spark's own target stays there"),
        MOST: Wanted(str(limits.max_executors), "the ceiling"),
        TRACKING: Wanted("true", "dynamic allocation without a shuffle service"),
        **dict.fromkeys((*MOVING, *_IDLE), Wanted(NEVER, _STILL)),
    }
