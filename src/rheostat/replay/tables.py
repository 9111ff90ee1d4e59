"""Reads CSV and Parquet tables as rows of cells, and rows as observations."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput
from rheostat.journal.record import observation_from
from rheostat.model import Observation

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
"""The fields of ``Observation`` by column of the thesis (table in docs/guides/replay.md)."""

IGNORED = frozenset({"", "Unnamed: 0", "index", "datetime", "seconds", "minutes"})
"""Row numbers, and redundant forms of the time."""

_RECOGNISED_BY = frozenset({"timestamp", "input_rate", "taskmanager"})
_SLOTS_PER_TASKMANAGER = 1


def is_thesis(columns: Iterable[str]) -> bool:
    """Return whether a header is that of the thesis' recordings."""
    return set(columns) >= _RECOGNISED_BY


def translate(columns: Iterable[str], recording: str) -> dict[str, str]:
    """Return the thesis' column of each field of ``Observation``; unknown columns stay.

    The throughput is the sink's. It equals the read rate except in query 3, which filters and
    joins.
    """
    known = {column: COLUMNS.get(column, (column,)) for column in columns if column not in IGNORED}
    translated = {field: column for column, fields in known.items() for field in fields}
    # Only the name identifies the query: all recordings have the same columns.
    if "query-3" in recording:
        translated.pop("processed_rows_per_s", None)
    return translated


def amend(cells: dict[str, Any]) -> dict[str, Any]:
    """Return the cells with unmeasured values absent: no executors, or a latency of at most 0."""
    amended = {**cells, "slots_per_executor": _SLOTS_PER_TASKMANAGER}
    for name in ("executors", "lag_s"):
        if _is_at_most_0(cells.get(name)):
            amended[name] = None
    return amended


def _is_at_most_0(cell: object) -> bool:
    try:
        # Minus infinity stays, so that the checks reject it with its row.
        return -float("inf") < float(str(cell)) <= 0
    except ValueError:
        return False


FIELDS = tuple(field.name for field in fields(Observation))
KINDS = {field.name: str(field.type).split(" ")[0] for field in fields(Observation)}
_ABSENT = frozenset({"nan", "null", "none", "na", "n/a"})


def observation_of(cells: Mapping[str, Any], names: Mapping[str, str], where: str) -> Observation:
    """Return the observation in the cells of a row, by field; ``names`` maps fields to the
    recording's columns.

    Empty cells, NaN and null are absent. Raises BadInput, with ``where``, for a value of the wrong
    type.
    """
    values = {
        name: _value(name, cell, names.get(name, name), where) for name, cell in cells.items()
    }
    present = {name: value for name, value in values.items() if value is not None}
    if "t_s" not in present:
        raise BadInput(
            f"{where}: {names.get('t_s', 't_s')} is empty; every row needs its time in seconds"
        )
    try:
        return observation_from(present)
    except (TypeError, ValueError, AttributeError) as error:
        nested = {name: value for name, value in present.items() if isinstance(value, dict | list)}
        raise BadInput(
            f"{where}: a nested value is invalid ({error}): {json.dumps(nested, default=str)[:200]}"
        ) from None


def _value(name: str, cell: Any, column: str, where: str) -> Any:
    kind = KINDS[name]
    text = cell.strip().lower() if isinstance(cell, str) else None
    if cell is None or text == "" or (isinstance(cell, float) and math.isnan(cell)):
        return None
    # This comes before the words for absent values: an application may be named "none".
    if kind == "str":
        return str(cell)
    if text in _ABSENT:
        return None
    if kind == "bool":
        return _flag(cell, text, column, where)
    if kind in ("float", "int"):
        return _number(cell, kind, column, where)
    return _nested(name, cell, column, where)


def _flag(cell: Any, text: str | None, column: str, where: str) -> bool:
    # Booleans of Arrow and pandas have the same text.
    known = {"true": True, "1": True, "false": False, "0": False}.get(text or str(cell).lower())
    if known is None:
        raise BadInput(f"{where}: {column} must be true or false, but it is {cell!r}")
    return known


def _number(cell: Any, kind: str, column: str, where: str) -> float | int:
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{where}: {column} must be a number, but it is {cell!r}") from None
    if not math.isfinite(number):
        raise BadInput(f"{where}: {column} must be a finite number, but it is {cell}")
    if kind == "int" and not number.is_integer():
        raise BadInput(f"{where}: {column} must be a whole number, but it is {cell}")
    return int(number) if kind == "int" else number


def _nested(name: str, cell: Any, column: str, where: str) -> Any:
    try:
        # Python's parser accepts NaN and Infinity, which are invalid JSON.
        value = json.loads(cell, parse_constant=_refuse) if isinstance(cell, str) else _plain(cell)
    except ValueError as error:
        raise BadInput(
            f"{where}: {column} must be JSON, but it is {str(cell)[:80]!r} ({error})"
        ) from None
    if "Mapping" in KINDS[name] and isinstance(value, list):  # Arrow's maps are lists of pairs
        is_map = all(isinstance(pair, list) and len(pair) == 2 for pair in value)
        value = dict(value) if is_map else value
    wanted = list if name == "stages" else dict
    if value is not None and not isinstance(value, wanted):
        raise BadInput(
            f"{where}: {column} must be a JSON {'list' if wanted is list else 'object'}, but it is"
            f" {str(cell)[:80]!r}"
        )
    if name == "stages" and any(
        isinstance(stage, dict) and not isinstance(stage.get("upstream", []), list)
        for stage in value or ()
    ):
        raise BadInput(
            f"{where}: upstream in {column} must be a list of names, but it is not:"
            f" {str(cell)[:80]!r}"
        )
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def _plain(value: Any) -> Any:
    """Return a value of Arrow, pandas or Spark as plain Python, without None in objects."""
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class Table:
    """The header of a table and its rows, each with its location."""

    columns: list[str]
    rows: Iterator[tuple[str, Mapping[str, Any]]]


def read_csv(path: Path) -> Table:
    """Return a CSV file with text cells; raises BadInput for an empty file or a ragged row."""
    rows = _lines_of(path)
    _, header = next(rows, (0, []))
    if not header:
        raise BadInput(f"{path.name} is empty; a recording needs a header and rows")
    return Table(header, _rows_of(path, header, rows))


def read_parquet(path: Path) -> Table:
    """Return a Parquet file, or a folder of them; raises BadInput for any other file."""
    from pyarrow import ArrowException, dataset

    try:
        table = dataset.dataset(str(path), format="parquet")
        columns = [name for name in table.schema.names if not is_index(name)]
    except (ArrowException, OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    return Table(columns, _rows_of_batches(path, table))


def is_index(column: str) -> bool:
    """Return whether a column of a Parquet file is the row number of pandas."""
    return column.startswith("__index_level_")


def _lines_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        # Excel writes a byte order mark, which would become part of the first column's name.
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            for cells in lines:
                if cells:
                    yield lines.line_num, [cell.strip() for cell in cells]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        what = getattr(error, "strerror", None) or (
            "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        )
        raise BadInput(f"the recording {path} cannot be read: {what}") from None


def _rows_of(
    path: Path, header: list[str], rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, (line, cells) in enumerate(rows, 1):
        where = f"{path.name}, row {number} (line {line})"
        # A shorter row would silently shift its values into other columns.
        if len(cells) != len(header):
            raise BadInput(
                f"{where}: {len(cells)} cells under {len(header)} columns: {','.join(cells)[:80]!r}"
            )
        yield where, dict(zip(header, cells, strict=True))


def _rows_of_batches(path: Path, table: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    number = 0
    for batch in table.to_batches():
        for cells in batch.to_pylist():
            number += 1
            yield f"{path.name}, row {number}", cells
