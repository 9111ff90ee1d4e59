"""How fast lag grows, relative to what is consumed: the metrics of Varga et al., section 4.1."""

from __future__ import annotations

import math


def relative_lag_change(lag_slope: float | None, consumed_per_s: float | None) -> float | None:
    """Return 1 + deriv(lag) / consumed rate: the factor by which executors must grow to keep up
    (equation 3).

    None where the slope or the rate is absent, or (next to) nothing is consumed: x/0 and 0/0 are
    no numbers. Below 0 where lag drains faster than the smoothed rate.
    """
    if lag_slope is None or consumed_per_s is None or consumed_per_s <= 0:
        return None
    # Equation 3 of Varga et al.
    change = 1 + lag_slope / consumed_per_s
    # A rate that is all but 0 overflows, and infinity would ask for the ceiling.
    return change if math.isfinite(change) else None


def gated_lag_change(
    lag_rows: float, threshold_rows: float, relative: float | None
) -> float | None:
    """Return sign(lag - threshold) x relative lag change (eq. 4): below the threshold it is to be
    negative and claims nothing.

    Mind: where ``relative`` is itself negative, the product is positive below the threshold. None
    at lag = threshold (0/0) and without a relative change.
    """
    if relative is None or lag_rows == threshold_rows:
        return None
    # Equation 4 as it stands in the paper; its sign below the threshold is told above.
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
