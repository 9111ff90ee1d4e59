"""How many executors a cluster manager is asked for that may refuse some.

Spark asks again every second for what was refused, counts each refusal as an executor that failed,
and ends the application when there are too many (``spark.executor.maxNumFailures``; by default 3
where it was started with one executor). So what is refused is no part of the total, until a pod
could be made again. Executors that wait for room are no refusal: they stay asked for, because a
node autoscaler adds nodes for them.
"""

from __future__ import annotations

BEARS = 100
"""An application that bears so many failed executors asks for several at a time; another for one
more at a time."""

STEP = 4
"""So many more at a time, or as many as there are where that is more: what is refused of them costs
a call a second each until the next look, and two looks bring one executor to eight."""


def total_to_request(wanted: int, there: int, *, refused: bool, bears: int) -> int:
    """Return the total to ask for.

    ``there`` are executors that run or wait for room, ``refused`` tells whether the manager would
    refuse another one now, ``bears`` how many failed executors the application bears.
    """
    # Less is always granted: only what is added can be refused.
    if wanted <= there:
        return wanted
    if refused:
        return there
    return min(wanted, there + (max(STEP, there) if bears >= BEARS else 1))


def tolerated_failures(failures: str | None, initial: int) -> int:
    """Return how many failed executors an application bears, by its setting
    ``spark.executor.maxNumFailures`` and the executors that it was started with.
    """
    if failures and failures.strip().isdecimal():
        return int(failures)
    # Spark's own default, with the number of executors at the start (ExecutorFailureTracker).
    return max(3, 2 * initial)
