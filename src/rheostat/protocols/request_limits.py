"""Limits the number of requested executors if the cluster manager may refuse some.

Spark repeats a refused request every second, counts each refusal as a failed executor, and ends the
application after too many (``spark.executor.maxNumFailures``; by default 3 if it started with one
executor). So refused executors are not part of the total until a pod could be created again.
Executors that wait for room are not refused: they stay requested, because a node autoscaler adds
nodes for them.
"""

from __future__ import annotations

MANY_FAILURES = 100
"""An application that tolerates this many failed executors requests several at a time; any other
requests one more at a time."""

STEP = 4
"""The additional executors per request, or the present number if that is larger: each refusal costs
a call per second until the next check, and two checks scale from one executor to eight."""


def total_to_request(wanted: int, existing: int, *, refused: bool, tolerated_failures: int) -> int:
    """Return the total to request.

    ``existing`` is the number of executors that run or wait for room, ``refused`` is whether the
    manager would refuse another one now, ``tolerated_failures`` is how many executors may fail
    before the application ends.
    """
    # A lower total is always granted: only additional executors can be refused.
    if wanted <= existing:
        return wanted
    if refused:
        return existing
    return min(
        wanted, existing + (max(STEP, existing) if tolerated_failures >= MANY_FAILURES else 1)
    )


def tolerated_failures(failures: str | None, initial: int) -> int:
    """Return how many failed executors an application tolerates, from its setting
    ``spark.executor.maxNumFailures`` and its initial number of executors.
    """
    if failures and failures.strip().isdecimal():
        return int(failures)
    # Spark's default, from the initial number of executors (ExecutorFailureTracker).
    return max(3, 2 * initial)
