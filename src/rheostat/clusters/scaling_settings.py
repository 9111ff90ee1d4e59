"""The settings without which executors cannot come and go, on any cluster: none of them can be made
later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.model import Limits


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that Rheostat would set, and why.

    ``joins`` is what separates the parts of a value that can have several authors, such as a class
    path: the user's part then stays, after ours.
    """

    value: str
    why: str
    joins: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """A value that the user has set, and where: a file, a variable, the script."""

    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class Merged:
    """A setting that is wanted, with the value that holds.

    ``origin`` is where the user has set it, None where only Rheostat has; ``sets`` whether Rheostat
    sets it.
    """

    name: str
    value: str
    why: str
    wanted: str
    origin: str | None
    sets: bool


def merged(wanted: Mapping[str, Wanted], given: Mapping[str, Given]) -> tuple[Merged, ...]:
    """Return every setting that is wanted with the value that holds: the user's wherever there is
    one.
    """
    return tuple(_merged(name, item, given.get(name)) for name, item in wanted.items())


def _merged(name: str, wanted: Wanted, given: Given | None) -> Merged:
    if given is None:
        return Merged(name, wanted.value, wanted.why, wanted.value, None, True)
    if wanted.joins:
        both = f"{wanted.value}{wanted.joins}{given.value}" if given.value else wanted.value
        return Merged(name, both, wanted.why, wanted.value, given.origin, True)
    return Merged(name, given.value, wanted.why, wanted.value, given.origin, False)


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
FOREVER_S = 86_400.0
"""Users switch a limit off by a large number: what does not act within a day is off."""

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "": 1.0}
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


def duration_s(text: str) -> float:
    """Return a duration of Spark in seconds; infinite for a text that is none, as no default is."""
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    # Without a unit the settings that are read here are in seconds.
    return float(match[1]) * _UNITS_S.get(match[2], 1.0) if match else float("inf")


def never_ends(duration: str) -> bool:
    """Return whether a duration of Spark is so long that nothing happens by it in a day."""
    return duration_s(duration) >= FOREVER_S
