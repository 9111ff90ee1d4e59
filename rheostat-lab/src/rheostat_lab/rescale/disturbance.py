"""How much a rescaling disturbs the batches of a query: DESIGN's statistic with its control, from
batch times and windows.

The disturbance of a rescale is the largest T / T_ref over the batches of its window, minus the
median of the same largest ratio over windows of as many batches without a rescale. T_ref is the
median steady batch at the same slots in the same run. A rescale without effect therefore has the
quantiles of the control windows, which are reported next to its own.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

MANY = 30
"""Minimum number of values for a 95th percentile; below it, the largest value replaces it."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A finished batch: start and commit in Unix seconds, and its duration T; after a restart, T
    counts from the stop of the query.
    """

    start_s: float
    commit_s: float
    duration_s: float


@dataclass(frozen=True, slots=True)
class Window:
    """A rescale from ``begin_s`` to ``end_s`` (Unix seconds), with its T_ref at ``slots``; ``kind``
    is in, out or out_start.
    """

    kind: str
    begin_s: float
    end_s: float
    slots: int

    def holds(self, batch: Timed) -> bool:
        """Return whether any part of a batch is in the window."""
        return batch.start_s < self.end_s and batch.commit_s > self.begin_s


@dataclass(frozen=True, slots=True)
class Disturbance:
    """The statistic of one direction over ``n`` rescales: ``p95`` for at least 30, otherwise the
    largest value ``max``; the same for the control.
    """

    n: int
    median: float | None
    p95: float | None
    max: float | None
    batches_per_window: int
    control_n: int
    control_p95: float | None
    control_max: float | None
    control_median_ratio: float | None
    """The value that has been subtracted."""

    values: tuple[float, ...]
    control_values: tuple[float, ...]


def references_s(steady: Mapping[int, Sequence[Timed]]) -> dict[int, float]:
    """Return T_ref by number of slots, from the steady batches of each."""
    return {
        slots: statistics.median(batch.duration_s for batch in batches)
        for slots, batches in steady.items()
        if batches
    }


def disturbance(
    batches: Sequence[Timed], windows: Sequence[Window], steady: Mapping[int, Sequence[Timed]]
) -> Disturbance:
    """Return the disturbance over ``windows`` of one kind; ``steady`` are the batches without a
    rescale, by number of slots.

    Windows without a batch, and windows whose slots have no steady batch, do not count.
    """
    references = references_s(steady)
    inside = [
        (window, [batch for batch in batches if window.holds(batch)])
        for window in windows
        if window.slots in references
    ]
    inside = [(window, held) for window, held in inside if held]
    length = round(statistics.median(len(held) for _, held in inside)) if inside else 0
    peaks = [_peak(held, references[window.slots]) for window, held in inside]
    quiet = [
        _peak(chunk, references[slots])
        for slots, calm in steady.items()
        for chunk in _chunks(calm, length)
    ]
    subtracted = statistics.median(quiet) if quiet else None
    values, control = _above(peaks, subtracted), _above(quiet, subtracted)
    return Disturbance(
        n=len(values),
        median=statistics.median(values) if values else None,
        p95=_p95(values),
        max=max(values, default=None),
        batches_per_window=length,
        control_n=len(control),
        control_p95=_p95(control),
        control_max=max(control, default=None),
        control_median_ratio=subtracted,
        values=tuple(values),
        control_values=tuple(control),
    )


def _peak(batches: Sequence[Timed], reference_s: float) -> float:
    return max(batch.duration_s for batch in batches) / reference_s


def _chunks(batches: Sequence[Timed], length: int) -> list[Sequence[Timed]]:
    """Split steady batches, which may come from several pauses, into windows that do not overlap;
    too few batches give one shorter window.
    """
    if not length or not batches:
        return []
    return [batches[i : i + length] for i in range(0, max(1, len(batches) - length + 1), length)]


def _above(ratios: Sequence[float], subtracted: float | None) -> list[float]:
    return [] if subtracted is None else [ratio - subtracted for ratio in ratios]


def _p95(values: Sequence[float]) -> float | None:
    return float(np.quantile(values, 0.95)) if len(values) >= MANY else None
