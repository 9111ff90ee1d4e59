"""Tables as rows of cells: CSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput


@dataclass(frozen=True, slots=True)
class Table:
    """The header of a table and its rows, each with the place where it is."""

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
    """Return a Parquet file, or a folder of them; raises BadInput for what is none."""
    from pyarrow import ArrowException, dataset

    try:
        table = dataset.dataset(str(path), format="parquet")
        columns = [name for name in table.schema.names if not is_index(name)]
    except (ArrowException, OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    return Table(columns, _rows_of_batches(path, table))


def is_index(column: str) -> bool:
    """Tell whether a column of a Parquet file is the row numbers of pandas."""
    return column.startswith("__index_level_")


def _lines_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        # Excel begins a file with a byte order mark, which would stick to the first column's name.
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
        # A shorter row would shift its values into other columns without a word.
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
