"""The columns of the thesis' recordings (delftdata/espa-autoscaling, ``full_data``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "timestamp": ("t_s",),
    "input_rate": ("input_rows_per_s",),
    "backpressure": ("backpressure_ms_per_s",),
    "busy_time": ("busy",),
    "idle_time": ("idle",),
    "CPU_load": ("cpu",),
    "lag": ("lag_rows",),
    "latency": ("lag_s",),
    "taskmanager": ("executors",),
    "throughput": ("output_rows_per_s", "processed_rows_per_s"),
}
"""Column of the thesis -> fields of ``Observation``; docs/guides/replay.md shows this table."""

IGNORED = frozenset({"", "Unnamed: 0", "index", "datetime", "seconds", "minutes"})
"""Row numbers, and the time said once more."""

_RECOGNISED_BY = frozenset({"timestamp", "input_rate", "taskmanager"})
_SLOTS_PER_TASKMANAGER = 1


def is_thesis(columns: Iterable[str]) -> bool:
    """Tell whether a header is that of the thesis' recordings."""
    return set(columns) >= _RECOGNISED_BY


def translate(columns: Iterable[str], recording: str) -> dict[str, str]:
    """Return the thesis' column of each field of ``Observation``; unknown columns stay.

    Throughput is the sink's; it is the reading rate except in query 3, which filters and joins.
    """
    known = {column: COLUMNS.get(column, (column,)) for column in columns if column not in IGNORED}
    translated = {field: column for column, fields in known.items() for field in fields}
    # Only the name tells the query: the columns are the same in all recordings.
    if "query-3" in recording:
        translated.pop("processed_rows_per_s", None)
    return translated


def amend(cells: dict[str, Any]) -> dict[str, Any]:
    """Return the cells with what was not measured absent: no executors, a wait of 0 or below."""
    amended = {**cells, "slots_per_executor": _SLOTS_PER_TASKMANAGER}
    for name in ("executors", "lag_s"):
        if _is_at_most_0(cells.get(name)):
            amended[name] = None
    return amended


def _is_at_most_0(cell: object) -> bool:
    try:
        # Minus infinity is left to the checks, which refuse it with its row.
        return -float("inf") < float(str(cell)) <= 0
    except ValueError:
        return False
