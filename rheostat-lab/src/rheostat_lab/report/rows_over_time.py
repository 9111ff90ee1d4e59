"""The arrived, committed and uncommitted rows at any moment of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rheostat_lab.report.finished_run import Run

Floats = NDArray[np.float64]


def rows_at(run: Run, t_s: float) -> float:
    """Return the rows that had arrived at a moment, by the arrival curve; 0 without one."""
    return float(arrived(run, np.array([t_s]))[0])


def arrived(run: Run, times_s: Floats) -> Floats:
    """Return the rows that had arrived at each time; 0 without an arrival curve."""
    if not run.curve:
        return np.zeros_like(times_s)
    known_s, rows = zip(*run.curve, strict=True)
    return np.asarray(np.interp(times_s, known_s, rows))


def committed(run: Run, times_s: Floats) -> Floats:
    """Return the committed rows at each time; a batch commits all its rows at once."""
    batches = sorted(run.batches, key=lambda batch: batch.commit_s)
    first = batches[0].first_row if batches else 0
    # Never decreases: a batch that was run again may be listed after its successor.
    ends = np.maximum.accumulate([float(first), *(batch.end_row for batch in batches)])
    done = np.searchsorted([batch.commit_s for batch in batches], times_s, side="right")
    return np.asarray(ends[done])


def waiting(run: Run, times_s: Floats) -> Floats:
    """Return the rows that had arrived and were not committed at each time: the lag."""
    return np.maximum(0.0, arrived(run, times_s) - committed(run, times_s))
