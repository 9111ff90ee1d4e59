"""The static Spark settings without which no cluster can add or remove executors at run time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.model import Limits

CORES, CORES_MAX = "spark.executor.cores", "spark.cores.max"
INSTANCES = "spark.executor.instances"
ALLOCATION = "spark.dynamicAllocation."
ENABLED = ALLOCATION + "enabled"
LEAST, MOST = ALLOCATION + "minExecutors", ALLOCATION + "maxExecutors"
INITIAL = ALLOCATION + "initialExecutors"
TRACKING = ALLOCATION + "shuffleTracking.enabled"

MOVING = (ALLOCATION + "schedulerBacklogTimeout", ALLOCATION + "executorIdleTimeout")
"""The time-outs with which dynamic allocation itself changes the size."""

_IDLE = tuple(
    ALLOCATION + name
    for name in (
        "sustainedSchedulerBacklogTimeout",
        "cachedExecutorIdleTimeout",
        "shuffleTracking.timeout",
    )
)
DECOMMISSION = "spark.decommission.enabled"
LINGER = "spark.test.executor.decommission.initial.sleep.millis"
FAILURES = "spark.executor.maxNumFailures"
NEVER = "1000000s"

FOREVER_S = 86_400.0
"""Seconds from which a time-out counts as switched off, as users do with a large number."""

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "": 1.0}

LINGER_S = 5.0
"""Minimum seconds that a decommissioned executor stays, longer than most batches.

With Spark's default of 1 s, each of six cycles 3 -> 1 of an aggregation failed 0 to 2 tasks; with
5 s, none did.
"""

_STILL = "never: only Rheostat changes the size"
_READS = "the running batch reads what it wrote"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that Rheostat would configure, and why.

    ``joins`` separates the parts of a value that can have several sources, such as a class path:
    the user's part then follows Rheostat's.
    """

    value: str
    why: str
    joins: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """A value that the user has configured, and where: in a file, a variable or the script."""

    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class Merged:
    """A wanted setting with its effective value.

    ``origin`` is where the user has configured it, or None; ``sets`` is whether Rheostat applies
    the value.
    """

    name: str
    value: str
    why: str
    wanted: str
    origin: str | None
    sets: bool


def merged(wanted: Mapping[str, Wanted], given: Mapping[str, Given]) -> tuple[Merged, ...]:
    """Return every wanted setting with its effective value: the user's if there is one."""
    return tuple(_merged(name, item, given.get(name)) for name, item in wanted.items())


def _merged(name: str, wanted: Wanted, given: Given | None) -> Merged:
    if given is None:
        return Merged(name, wanted.value, wanted.why, wanted.value, None, True)
    if wanted.joins:
        both = f"{wanted.value}{wanted.joins}{given.value}" if given.value else wanted.value
        return Merged(name, both, wanted.why, wanted.value, given.origin, True)
    return Merged(name, given.value, wanted.why, wanted.value, given.origin, False)


def leaving(linger_s: float = LINGER_S) -> dict[str, Wanted]:
    """Return the settings that let executors be removed without a failed task.

    Block migration would keep decommissioned executors alive for many batches, so it stays off.
    ``linger_s`` is how many seconds a decommissioned executor stays at least: the tasks of a
    running batch with a shuffle still read its output.
    """
    return {
        DECOMMISSION: Wanted("true", "an executor that leaves ends its tasks first"),
        LINGER: Wanted(str(round(linger_s * 1000)), f"ms that it stays: {_READS}"),
    }


def beginning(initial: int) -> dict[str, Wanted]:
    """Return the setting of the initial executor count without dynamic allocation."""
    return {INSTANCES: Wanted(str(initial), "the number of executors to start with")}


def failures() -> dict[str, Wanted]:
    """Return how many failed executors the application tolerates on YARN and Kubernetes.

    Spark's default is twice the initial number of executors, at least 3, over the application's
    lifetime, which ends a long-running application that started small.
    """
    return {
        FAILURES: Wanted("100", "the default of an application that starts small is 3"),
        "spark.executor.failuresValidityInterval": Wanted("10m", "those of the last ten minutes"),
    }


def allocation(limits: Limits, initial: int) -> dict[str, Wanted]:
    """Return the settings of dynamic allocation that never changes the size by itself.

    Without it, a Standalone application starts with all executors for which the cluster has room.
    The floor is the initial size because Spark's own target otherwise falls to the floor
    (``ExecutorAllocationManager.updateAndSyncNumExecutorsTarget``); the floor does not bound later
    requests of Rheostat.
    """
    return {
        ENABLED: Wanted("true", "otherwise a Standalone application starts with its maximum"),
        INITIAL: Wanted(str(initial), "the number of executors to start with"),
        LEAST: Wanted(str(initial), "Spark's own target stays there"),
        MOST: Wanted(str(limits.max_executors), "the ceiling"),
        TRACKING: Wanted("true", "dynamic allocation without a shuffle service"),
        **dict.fromkeys((*MOVING, *_IDLE), Wanted(NEVER, _STILL)),
    }


def duration_s(text: str) -> float:
    """Return a Spark duration in seconds; infinite for a text that is not a duration."""
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    # The settings read here are in seconds if they have no unit.
    return float(match[1]) * _UNITS_S.get(match[2], 1.0) if match else float("inf")
