"""Lag: rows that have arrived and are not committed yet, and how fast they grow (Varga et al.)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from rheostat.model import Observation

Offsets: TypeAlias = Mapping[tuple[str, int], int]
"""Next offset per (topic, partition)."""


def lag_rows(latest: Offsets, committed: Offsets) -> int | None:
    """Return the sum over partitions of latest - committed; None where a committed partition is
    unknown to ``latest``.

    A partition that is new (in ``latest`` only) counts from offset 0. A negative difference (an old
    answer of the broker) counts as 0.
    """
    if not committed or any(partition not in latest for partition in committed):
        return None
    return sum(max(0, offset - committed.get(partition, 0)) for partition, offset in latest.items())


def lag_rows_upper(lags_by_task: Iterable[Sequence[int]]) -> int:
    """Return the upper bound of the lag: the sum over source tasks of their largest partition lag x
    their partitions.

    A task of Spark's Kafka source reads one partition, and the bound is then the true sum. Source:
    Varga et al., eq. 2, for clients that report only their largest lag.
    """
    return sum(max(lags) * len(lags) for lags in lags_by_task if lags)


def littles_law_s(rows: float | None, rate_per_s: float | None) -> float | None:
    """Return the mean time a row waits in a steady queue: its rows over their arrival rate.

    None where either is absent, and where rows wait but none arrive. After a peak the rate is that
    of now and the rows are those of the peak, so prefer ``ArrivalCurve.waits``. Source: Little
    (1961).
    """
    if rows is None or rate_per_s is None:
        return None
    if rate_per_s <= 0:
        # An empty queue has no wait at any rate; a full one without arrivals has no mean wait.
        return 0.0 if rows == 0 else None
    return rows / rate_per_s


def queued_rows(observation: Observation) -> float | None:
    """Return the rows that wait; where they were not counted, by Little's law from their wait and
    their arrival rate.
    """
    if (
        observation.lag_rows is not None
        or observation.wait_s is None
        or observation.input_rows_per_s is None
    ):
        return observation.lag_rows
    return observation.wait_s * observation.input_rows_per_s


def relative_lag_change(lag_slope: float | None, consumed_per_s: float | None) -> float | None:
    """Return 1 + deriv(lag) / consumed rate: the factor by which executors must grow to keep up
    (equation 3).

    None where the slope or the rate is absent, or the rate is 0 or almost 0. Below 0 where the lag
    drains faster than the smoothed rate.
    """
    if lag_slope is None or consumed_per_s is None or consumed_per_s <= 0:
        return None
    # Equation 3 of Varga et al.
    change = 1 + lag_slope / consumed_per_s
    # A rate that is all but 0 overflows, and infinity would request the ceiling.
    return change if math.isfinite(change) else None


def gated_lag_change(
    lag_rows: float, threshold_rows: float, relative: float | None
) -> float | None:
    """Return sign(lag - threshold) x relative lag change (eq. 4): below the threshold it is to be
    negative and claims nothing.

    Where ``relative`` is negative, the product is positive below the threshold. None at lag =
    threshold (0/0) and without a relative change.
    """
    if relative is None or lag_rows == threshold_rows:
        return None
    # Equation 4 as it stands in the paper; see above for its sign below the threshold.
    return math.copysign(1.0, lag_rows - threshold_rows) * relative


def consumed_per_s(
    consumed: float | None, arrivals: float | None, lag_slope: float | None
) -> float | None:
    """Return the mean rate at which rows are consumed (V's totalRate); where none was measured,
    what arrives and does not queue.
    """
    if consumed is not None or arrivals is None or lag_slope is None:
        return consumed
    # What arrives either queues or is consumed.
    return arrivals - lag_slope
