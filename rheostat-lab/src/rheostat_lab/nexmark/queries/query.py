"""The form of a benchmark query: the same in PySpark, as a stream or in batch, and in DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Frames: TypeAlias = "Mapping[str, DataFrame]"
"""Events by kind."""

DELAY_S = 4
"""Seconds that the watermark is behind the latest event, as in the reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query over the events of ``sources``, in append mode.

    ``twin`` is DuckDB SQL over tables with the sources' names that gives the same columns. ``key``
    are the columns that identify an output row. A query with windows must output the rows whose
    column ``closes`` is at or below the watermark; None: all rows.
    """

    name: str
    summary: str
    sources: tuple[str, ...]
    frame: Callable[[Frames], DataFrame]
    twin: str
    key: str
    closes: str | None = None
    stateful: bool = True
