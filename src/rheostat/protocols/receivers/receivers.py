"""Receivers on executors (SPARK-12133, versions 2 and 3): who may go, where receivers move, how
many there should be.

An allocation is the number of receivers on each executor, in the executors' order. These are pure
functions; the mechanism that starts and stops receivers uses them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rheostat.errors import BadInput


def may_go(allocation: Sequence[int], executor: int, cores: int) -> bool:
    """Tell whether the cores of the other executors still hold all N receivers (version 2); a core
    holds one receiver.
    """
    _check(allocation, cores)
    return sum(allocation) <= (len(allocation) - 1) * cores and 0 <= executor < len(allocation)


def without(allocation: Sequence[int], executor: int, cores: int) -> list[int]:
    """Return the allocation after ``executor`` has gone and its receivers have started again, each
    on the least loaded executor.

    Raises BadInput where the executor may not go.
    """
    if not may_go(allocation, executor, cores):
        raise BadInput(
            f"executor {executor} may not go: the others have no {cores} cores each for all"
            f" {sum(allocation)} receivers"
        )
    return _spread(
        [count for n, count in enumerate(allocation) if n != executor], allocation[executor]
    )


def rebalanced(allocation: Sequence[int]) -> list[int]:
    """Return the allocation a minute later: an executor with at least 1 + N_avg receivers gives one
    to the least loaded (version 2).

    N_avg is the mean number of receivers per executor. An allocation that comes back unchanged is
    stable.
    """
    _check(allocation, cores=max(allocation, default=0))
    after = list(allocation)
    most, count = max(enumerate(after), key=lambda entry: entry[1], default=(0, 0))
    # count >= 1 + N_avg without a division, which might round to the wrong side.
    if len(after) > 1 and (count - 1) * len(after) >= sum(after):
        after[most] -= 1
        return _spread(after, 1)
    return after


def receivers_for(input_rows_per_s: float, ceiling_rows_per_s: float, share: float = 1.0) -> int:
    """Return how many receivers the input needs: ceil(rate / (share x one receiver's measured
    ceiling)), at least one (version 3).

    ``share`` (0..1] is how much of its ceiling a receiver shall carry. Version 3 is announced in
    the document and not specified there: this is ours.
    """
    if not (0 <= input_rows_per_s < math.inf and 0 < ceiling_rows_per_s < math.inf):
        given = f"{input_rows_per_s} and {ceiling_rows_per_s} rows/s"
        raise BadInput(
            f"the rate must be at least 0 and a receiver's ceiling above 0, but they are {given}"
        )
    if not 0 < share <= 1:
        raise BadInput(f"share must be in (0, 1], but it is {share}")
    return max(1, math.ceil(input_rows_per_s / (share * ceiling_rows_per_s)))


def resized(allocation: Sequence[int], receivers: int, cores: int) -> list[int]:
    """Return the allocation with ``receivers`` in all: new ones start on the least loaded executor,
    surplus ones leave the most loaded.
    """
    _check(allocation, cores)
    if not 0 <= receivers <= len(allocation) * cores:
        raise BadInput(
            f"{receivers} receivers do not fit on {len(allocation)} executors of {cores} cores"
        )
    after = list(allocation)
    while sum(after) > receivers:
        # The first of equals, here and in spreading: the result depends on nothing but the input.
        after[after.index(max(after))] -= 1
    return _spread(after, receivers - sum(after))


def _spread(allocation: list[int], receivers: int) -> list[int]:
    after = list(allocation)
    for _ in range(receivers):
        after[after.index(min(after))] += 1
    return after


def _check(allocation: Sequence[int], cores: int) -> None:
    if any(not 0 <= count <= cores for count in allocation):
        raise BadInput(
            f"an executor holds 0 to {cores} receivers, one a core, but the allocation is"
            f" {list(allocation)}"
        )
