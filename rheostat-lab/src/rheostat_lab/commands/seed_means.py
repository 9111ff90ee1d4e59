"""Means over seeds, as in the tables of sweeps and comparisons."""

from __future__ import annotations

from collections.abc import Mapping

MEANS = "means over the seeds ± half the 95 % interval; cost in slot-seconds"
UNDER_OVER = (
    "under, over: executors missing and too many, over the demand (SPEC's accuracy; rheostat"
    " simulate demand)"
)


def mean_cell(mean: Mapping[str, float] | None) -> str:
    """Return ``mean ± half`` of a mean with its interval; empty without a mean."""
    if mean is None:
        return ""
    half = (mean["high"] - mean["low"]) / 2
    if abs(mean["mean"]) >= 1000:
        return f"{mean['mean']:,.0f} ± {half:,.0f}"
    return f"{mean['mean']:.3g} ± {half:.2g}"
