"""Events as JSON objects for Kafka, as Arrow tables for files, and one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rheostat_lab.loads.counter import Numbers
from rheostat_lab.nexmark.events import KINDS, TEXT_COLUMNS, Events, event_numbers, events
from rheostat_lab.nexmark.events import number_before as before
from rheostat_lab.nexmark.texts import texts

NUMBERS: Mapping[str, Mapping[str, int]] = {
    "persons": {"id": 3},
    "auctions": {
        "id": 3,
        "initial_bid": 3,
        "reserve": 3,
        "expires": 4,
        "seller": 3,
        "category": 1,
    },
    "bids": {"id": 3, "auction": 3, "bidder": 3, "price": 3},
}
"""The numeric columns of each kind, with the number of four-digit groups of the largest value."""

TIME = pa.timestamp("ms", tz="UTC")
TIMES = ("date_time", "expires")
_START_MS = 1_763_662_000_000
_GROUP = 10_000
_AT_A_TIME = 500


def columns(kind: str) -> dict[str, str]:
    """Return the columns of a kind's records and their SQL types; times are Unix milliseconds."""
    numbers = dict.fromkeys((*NUMBERS[kind], "date_time"), "BIGINT")
    return numbers | dict.fromkeys(TEXT_COLUMNS[kind], "STRING")


def encode(batch: Events, created_ms: int) -> Iterator[bytes]:
    """Yield one JSON object per event, with ``date_time`` = ``created_ms`` (Unix milliseconds).

    Records are rows of a byte table that is filled column by column; shorter numbers and texts are
    padded with blanks outside of quotes. Numbers of events are below 10^12.
    """
    layout = _layout(batch.kind, batch.seed)
    first = layout.first_row.copy()
    first["date_time"] = f"{created_ms:13d}".encode()
    rows = np.repeat(first, len(batch))
    for name in NUMBERS[batch.kind]:
        _write_digits(rows[name], _numbers(batch, name, created_ms))
    for column, table in layout.texts.items():
        rows[column] = table.take(batch.columns[column])
    # NumPy strips trailing zero bytes of this type, so records have the length of their text.
    lines = rows.view(f"S{rows.itemsize}")
    # A few at a time: the memory of records that were sent is still in the cache for the next.
    for first_line in range(0, len(lines), _AT_A_TIME):
        yield from lines[first_line : first_line + _AT_A_TIME].tolist()


def to_table(batch: Events, created_ms: Numbers | int) -> pa.Table:
    """Return events as an Arrow table; ``created_ms`` (Unix milliseconds) is one value for all
    events or one per event.
    """
    created = np.broadcast_to(np.asarray(created_ms, dtype=np.int64), len(batch))
    columns = {name: pa.array(_numbers(batch, name, created)) for name in NUMBERS[batch.kind]}
    for column, table in TEXT_COLUMNS[batch.kind].items():
        columns[column] = pa.array(texts(batch.seed)[table]).take(pa.array(batch.columns[column]))
    columns["date_time"] = pa.array(created)
    return pa.table(
        {n: column.cast(TIME) if n in TIMES else column for n, column in columns.items()}
    )


def tables(
    seed: int, first: int, count: int, rate_per_s: float, start_ms: int = _START_MS
) -> dict[str, pa.Table]:
    """Return events ``first`` to ``first + count - 1`` of all kinds, one table per kind; event n is
    created n / ``rate_per_s`` seconds after ``start_ms`` (Unix milliseconds).
    """
    result = {}
    for kind in KINDS:
        number = before(kind, first)
        batch = events(kind, seed, number, before(kind, first + count) - number)
        n = event_numbers(kind, np.arange(number, number + len(batch)))
        result[kind] = to_table(batch, start_ms + (n * 1000 / rate_per_s).astype(np.int64))
    return result


def iterate(
    seed: int, first: int, count: int, rate_per_s: float
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield events of all kinds in the order of their numbers, each as (kind, columns)."""
    rows = {
        kind: iter(table.to_pylist())
        for kind, table in tables(seed, first, count, rate_per_s).items()
    }
    for event in range(first, first + count):
        kind = next(kind for kind in KINDS if before(kind, event + 1) > before(kind, event))
        yield kind, next(rows[kind])


@dataclass(frozen=True, slots=True)
class _Layout:
    """The layout of a kind's records: a row with its constants, and the texts by column."""

    first_row: NDArray[Any]
    texts: Mapping[str, NDArray[Any]]


@lru_cache(maxsize=16)
def _layout(kind: str, seed: int) -> _Layout:
    last, *before_last = reversed(_text_groups(kind))
    tables = {
        group[0]: _fixed_width(_as_json(seed, kind, group), b" ") for group in reversed(before_last)
    }
    tables[last[0]] = _fixed_width([text + b"}" for text in _as_json(seed, kind, last)], b"\0")
    names = [f'{"," if i else "{"}"{name}":' for i, name in enumerate(NUMBERS[kind])]
    fields: list[tuple[Any, ...]] = []
    for text, (name, groups) in zip(names, NUMBERS[kind].items(), strict=True):
        fields += [(text, f"V{len(text)}"), (name, "<u4", (groups,))]
    time = ',"date_time":'
    fields += [(time, f"V{len(time)}"), ("date_time", "V13")]
    fields += [(name, table.dtype) for name, table in tables.items()]
    row: NDArray[Any] = np.full(1, b" ", "S1").repeat(np.dtype(fields).itemsize).view(fields)
    for name in (*names, time):
        row[name] = name.encode()
    return _Layout(row, tables)


def _text_groups(kind: str) -> list[tuple[str, ...]]:
    """Return the text columns; related columns of a bid are written together."""
    if kind == "bids":
        return [("channel", "url"), ("extra",)]
    return [(column,) for column in TEXT_COLUMNS[kind]]


def _as_json(seed: int, kind: str, columns: tuple[str, ...]) -> list[bytes]:
    parts = [
        [f',"{column}":"{text}"' for text in texts(seed)[TEXT_COLUMNS[kind][column]]]
        for column in columns
    ]
    return ["".join(row).encode() for row in zip(*parts, strict=True)]


def _fixed_width(values: list[bytes], fill: bytes) -> NDArray[Any]:
    width = max(map(len, values))
    return np.array([value.ljust(width, fill) for value in values], f"S{width}").view(f"V{width}")


def _numbers(batch: Events, name: str, created_ms: Numbers | int) -> Numbers:
    return batch.columns["life_ms"] + created_ms if name == "expires" else batch.columns[name]


def _write_digits(out: NDArray[np.uint32], values: Numbers) -> None:
    """Write numbers, right-aligned, as groups of four digits into blanks."""
    # Half the width takes half the time, and few runs have more than four billion events.
    rest = values.astype(np.uint32 if len(values) and values.max() < 1 << 32 else np.uint64)
    table = _LAST
    for group in reversed(range(out.shape[1])):
        above = rest // _GROUP
        # Leading zeros are not valid JSON, so the first group of a number is padded with blanks.
        out[:, group] = table.take(rest - above * _GROUP + (above > 0) * rest.dtype.type(_GROUP))
        if not above.any():
            return
        rest, table = above, _NOT_LAST


_LAST = np.array(
    [*(f"{i:4d}" for i in range(_GROUP)), *(f"{i:04d}" for i in range(_GROUP))], "S4"
).view(np.uint32)
_NOT_LAST = _LAST.copy()
_NOT_LAST[:1] = np.array([b"    "]).view(np.uint32)
