"""Fluid migration: a move of state is cut into steps that the slack of a batch can carry
(Megaphone, VLDB 2019, for Spark's batches).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping

from rheostat.state.assignment import moves
from rheostat.state.units import Unit

STEP_SHARE = 0.5
"""A step plans with this share of the slack: the stores' maintenance, which writes snapshots, takes
as much where it meets a move."""


def partitions_per_batch(slack_s: float | None, load_s: float | None) -> int:
    """Return how many partitions an executor may load in a batch: what fits ``STEP_SHARE`` of its
    slack, and at least one.

    ``slack_s``: seconds that a batch may take longer; ``load_s``: seconds to load one partition.
    Where either is unknown the answer is one. A ``load_s`` of 0 (nothing to load) knows no limit.
    """
    if slack_s is None or load_s is None or slack_s <= 0:
        return 1
    # Nothing to load is no limit, and no division by 0.
    if load_s <= 0:
        return 1_000_000
    return max(1, math.floor(STEP_SHARE * slack_s / load_s))


def too_big(slack_s: float | None, load_s: float | None) -> str | None:
    """Say in words that a single partition does not fit the slack of a batch; None where it does or
    is not known.
    """
    if slack_s is None or load_s is None or load_s <= slack_s:
        return None
    return (
        f"one state partition takes {load_s:.1f} s to load, a batch has {max(0.0, slack_s):.1f} s"
        " to spare: its move will be felt"
    )


def ramp(held: int, coming: int, in_pause: bool = False) -> int:
    """Return how many units an executor may get at a boundary when it holds ``held`` and ``coming``
    are still to come: at least one.

    At most as many as it holds, because a young JVM is slow until it has done a thing a few times;
    and at most a third of what is to come, because the fuller it gets, the less is a batch over
    before its tasks are. What is loaded ``in_pause`` is only computed by the tasks: three times as
    many as it holds, and half of what is to come.
    """
    times, part = (3, 2) if in_pause else (1, 3)
    return max(1, min(times * held, math.ceil(coming / part)))


def next_moves(
    current: Mapping[Unit, str | None],
    wanted: Mapping[Unit, str],
    per_executor: int,
    first: Collection[str] = (),
    young: Collection[str] | None = None,
) -> tuple[Unit, ...]:
    """Return the units to move at this batch boundary: at most ``per_executor`` onto any one
    executor, which is filled on a ``ramp``.

    A quarter of what a batch may load is not felt and needs no ramp: in long batches state moves
    fast. Units that nobody holds (None: lost with their executor, or never placed) have to be
    loaded anyway: all of them at once, beyond the limit. Units on executors in ``first`` (which are
    leaving) go before others. Where state is loaded in pauses, only ``young`` executors are on a
    ramp; where batches load it (None), all are.
    """
    pending = moves(current, wanted)
    chosen = [unit for unit in pending if current.get(unit) is None]
    held, coming = Counter(current.values()), Counter(wanted[unit] for unit in pending)

    def most(executor: str) -> int:
        if young is None:
            return max(per_executor // 4, ramp(held[executor], coming[executor]))
        return (
            ramp(held[executor], coming[executor], in_pause=True)
            if executor in young
            else per_executor
        )

    # The ramp never lifts the limit that the slack sets.
    room = {executor: min(per_executor, most(executor)) for executor in coming}
    # What is lost is sent beyond the limit, but counts: nothing else is sent beside it.
    for unit in chosen:
        room[wanted[unit]] -= 1
    for unit in sorted(
        (u for u in pending if current.get(u) is not None),
        # False sorts before True: units on leaving executors come first.
        key=lambda u: (current[u] not in first, u),
    ):
        if room[wanted[unit]] > 0:
            room[wanted[unit]] -= 1
            chosen.append(unit)
    return tuple(sorted(chosen))
