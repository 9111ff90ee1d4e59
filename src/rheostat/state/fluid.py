"""Fluid migration (Megaphone, VLDB 2019): moves state in steps that fit the slack of a batch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping

from rheostat.state.assignment import Unit, moves

STEP_SHARE = 0.5
"""The share of the slack that a step uses: the stores' maintenance, which writes snapshots, takes
as much if it coincides with a move."""


def partitions_per_batch(slack_s: float | None, load_s: float | None) -> int:
    """Return how many partitions an executor may load in a batch: ``STEP_SHARE`` of its slack, at
    least 1.

    ``slack_s`` is the spare time of a batch, ``load_s`` the load time of one partition, both in
    seconds.
    """
    if slack_s is None or load_s is None or slack_s <= 0:
        return 1
    # Loads without duration are unlimited; this also avoids a division by 0.
    if load_s <= 0:
        return 1_000_000
    return max(1, math.floor(STEP_SHARE * slack_s / load_s))


def too_big(slack_s: float | None, load_s: float | None) -> str | None:
    """Describe a partition that does not fit the slack of a batch; None if it fits."""
    if slack_s is None or load_s is None or load_s <= slack_s:
        return None
    return (
        f"one state partition takes {load_s:.1f} s to load, a batch has {max(0.0, slack_s):.1f} s"
        " to spare: its move will delay a batch"
    )


def ramp(held: int, coming: int, in_pause: bool = False) -> int:
    """Return how many units an executor may get that holds ``held`` while ``coming`` are pending.

    It may double its units and get a third of the pending ones, whichever is less, because a young
    JVM is slow; ``in_pause`` it may quadruple them and get half; at least 1.
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
    """Return the units to move at this batch boundary, at most ``per_executor`` each, along a
    ``ramp``.

    Up to a quarter of that needs no ramp. Units without a holder move at once, beyond the limit;
    those of ``first`` (leaving executors) precede others. If pauses load the state, only ``young``
    executors ramp; None: all do.
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

    # The ramp never exceeds the limit of the slack.
    room = {executor: min(per_executor, most(executor)) for executor in coming}
    # Lost units are sent beyond the limit, but count: no others are sent with them.
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
