"""Lag: rows that have arrived and are not committed, and how fast they grow (Varga et al.)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from rheostat.model import Observation
from rheostat.tuning import TUNING, Tuning

Offsets: TypeAlias = Mapping[tuple[str, int], int]
"""The next offset per (topic, partition)."""


def lag_rows(latest: Offsets, committed: Offsets) -> int | None:
    """Return the sum of latest - committed; None if a committed partition is unknown."""
    if not committed or any(partition not in latest for partition in committed):
        return None
    return sum(max(0, offset - committed.get(partition, 0)) for partition, offset in latest.items())


def lag_by_partition(latest: Offsets, committed: Offsets, most: int = 8) -> dict[str, float]:
    """Return the lag by ``topic/partition`` for the ``most`` partitions with the largest lag, and
    the sum of the others as ``topic/others``; partitions without lag are omitted.
    """
    lags = {place: offset - committed.get(place, 0) for place, offset in latest.items()}
    ordered = sorted((place for place, rows in lags.items() if rows > 0), key=lags.__getitem__)
    by_name: dict[str, float] = {}
    for rank, (topic, partition) in enumerate(reversed(ordered)):
        name = f"{topic}/{partition if rank < most else 'others'}"
        by_name[name] = by_name.get(name, 0.0) + lags[topic, partition]
    return by_name


def lag_rows_upper(lags_by_task: Iterable[Sequence[int]]) -> int:
    """Return the sum over source tasks of largest lag x partitions (Varga et al., eq. 2)."""
    return sum(max(lags) * len(lags) for lags in lags_by_task if lags)


def littles_law_s(rows: float | None, rate_per_s: float | None) -> float | None:
    """Return the mean wait of a row in a steady queue in seconds, rows / arrival rate (Little,
    1961).

    None if either is absent, or if rows wait but none arrive.
    """
    if rows is None or rate_per_s is None:
        return None
    if rate_per_s <= 0:
        # An empty queue has no wait at any rate; a non-empty queue without arrivals has no mean
        # wait.
        return 0.0 if rows == 0 else None
    return rows / rate_per_s


def queued_rows(observation: Observation) -> float | None:
    """Return the backlog in rows; if it was not counted, by Little's law from the wait."""
    if (
        observation.lag_rows is not None
        or observation.wait_s is None
        or observation.input_rows_per_s is None
    ):
        return observation.lag_rows
    return observation.wait_s * observation.input_rows_per_s


def relative_lag_change(lag_slope: float | None, consumed_per_s: float | None) -> float | None:
    """Return 1 + deriv(lag) / consumed rate, the required growth of the executors (equation 3).

    None if a number is absent or the rate is (almost) 0.
    """
    if lag_slope is None or consumed_per_s is None or consumed_per_s <= 0:
        return None
    change = 1 + lag_slope / consumed_per_s
    # A rate that is almost 0 overflows, and infinity would request the maximum.
    return change if math.isfinite(change) else None


def gated_lag_change(
    lag_rows: float, threshold_rows: float, relative: float | None
) -> float | None:
    """Return sign(lag - threshold) x relative lag change (equation 4), if defined."""
    if relative is None or lag_rows == threshold_rows:
        return None
    # Equation 4 as published: below the threshold it is the negated equation 3.
    return math.copysign(1.0, lag_rows - threshold_rows) * relative


def consumed_per_s(
    consumed: float | None, arrivals: float | None, lag_slope: float | None
) -> float | None:
    """Return the mean rate of consumed rows (Varga's totalRate), else arrivals minus lag growth."""
    if consumed is not None or arrivals is None or lag_slope is None:
        return consumed
    # Arriving rows are either queued or consumed.
    return arrivals - lag_slope


def rows_left(observation: Observation) -> float:
    """Return the rows that the last batch left behind when it began: the backlog without the rows
    that arrived during the batch; 0 if the backlog is unknown.
    """
    arrived = (observation.input_rows_per_s or 0.0) * (observation.batch_s or 0.0)
    return max(0.0, (observation.lag_rows or 0.0) - arrived)


def is_rows_limited(rows: float, before: float, left: float, tuning: Tuning = TUNING) -> bool:
    """Return whether a batch shows a limit of rows (as ``maxOffsetsPerTrigger``): it has as many
    rows as the batch ``before``, and ``left`` more than another one could take. A batch without a
    limit takes all that wait.

    >>> is_rows_limited(rows=1000, before=990, left=1600)
    True
    >>> is_rows_limited(rows=1000, before=990, left=300)
    False
    """
    is_same = abs(rows - before) <= tuning.resolution * before
    return is_same and left > tuning.clear_factor * rows
