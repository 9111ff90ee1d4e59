"""The expected output of the stateful queries, computed in batch by DuckDB over all rows of the
topics, and the comparison.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from rheostat.errors import RheostatError
from rheostat_lab.demo.file_sink import committed_files
from rheostat_lab.rescale.stateful_queries import JOIN_RANGE_S, UPDATED, WINDOW_S
from rheostat_lab.rescale.stateful_rows import CLOSING_KEY, read_values


@dataclass(frozen=True, slots=True)
class Verdict:
    """The comparison of two multisets of rows: expected, actual, missing and unexpected."""

    expected: int
    actual: int
    missing: int
    unexpected: int

    @property
    def exact(self) -> bool:
        """Whether every expected row exists as often as expected, and no other row."""
        return self.missing == 0 and self.unexpected == 0


def _md5(payload: bytes) -> str:
    return hashlib.md5(payload, usedforsecurity=False).hexdigest()


_EMPTY_MD5 = _md5(b"")


def rows_table(values: Iterable[bytes]) -> pa.Table:
    """Return records as a table: key, seq, t_ms, gap_ms, md5 of the value (NULL without one)."""
    columns: dict[str, list[object]] = {"key": [], "seq": [], "t_ms": [], "gap_ms": [], "md5": []}
    for record in values:
        key, seq, t_ms, gap_s, payload = record.split(b",", 4)
        read = (
            key.decode(),
            int(seq),
            int(t_ms),
            int(gap_s) * 1000,
            _md5(payload) if payload else None,
        )
        for column, value in zip(columns.values(), read, strict=True):
            column.append(value)
    types = {
        "key": pa.string(),
        "seq": pa.int64(),
        "t_ms": pa.int64(),
        "gap_ms": pa.int64(),
        "md5": pa.string(),
    }
    return pa.table({name: pa.array(column, types[name]) for name, column in columns.items()})


def compare(expected: pa.Table, actual: pa.Table) -> Verdict:
    """Compare two tables with the same columns as multisets of rows."""
    with duckdb.connect() as connection:
        connection.register("expected", expected)
        connection.register("actual", actual)
        # ALL keeps counts, so that a duplicate of a row that is expected once is unexpected.
        missing = connection.sql("FROM expected EXCEPT ALL FROM actual").to_arrow_table()
        unexpected = connection.sql("FROM actual EXCEPT ALL FROM expected").to_arrow_table()
    return Verdict(
        expected=expected.num_rows,
        actual=actual.num_rows,
        missing=missing.num_rows,
        unexpected=unexpected.num_rows,
    )


def verify_stateful(
    query: str,
    bootstrap: str,
    topics: Sequence[str],
    *,
    sink: Path | None = None,
    out_topic: str | None = None,
) -> Verdict:
    """Read the topics and the query's output, and compare; call it when all rows are processed and
    all windows closed.

    A query of ``UPDATED`` is judged by its last output for each key (its sink may repeat rows after
    a failure), the others by multisets of complete rows. Raises RheostatError for an unreadable
    sink.
    """
    wanted = expected(query, *(rows_table(read_values(bootstrap, topic)) for topic in topics))
    if query in UPDATED:
        return compare(wanted, last_counts(read_values(bootstrap, str(out_topic))))
    if sink is None:
        raise RheostatError(f"the query {query} writes files, but no folder was given")
    return compare(wanted, read_json_sink(sink, wanted.schema))


def expected(query: str, *rows: pa.Table) -> pa.Table:
    """Return all rows of a query except those of the closing row, which an updated count also
    contains; a join takes two tables.
    """
    with duckdb.connect() as connection:
        for name, table in zip(("rows", "others"), rows, strict=False):
            connection.register(name, table)
        return connection.sql(_ORACLES[query]).to_arrow_table()


def last_counts(values: Iterable[bytes]) -> pa.Table:
    """Return the largest count recorded for each key, from records ``key,n,total,md5``."""
    last: dict[str, tuple[int, int, str]] = {}
    for value in values:
        key, n, total, md5 = value.decode().split(",")
        last[key] = max(last.get(key, (0, 0, "")), (int(n), int(total), md5))
    columns = [pa.array(list(last), pa.string())]
    columns += [
        pa.array([record[i] for record in last.values()], kind)
        for i, kind in enumerate((pa.int64(), pa.int64(), pa.string()))
    ]
    return pa.table(columns, names=["key", "n", "total", "md5"])


def read_json_sink(sink: Path, schema: pa.Schema) -> pa.Table:
    """Return the rows that the file sink has committed, except those of the closing row, with the
    columns of ``schema``.
    """
    names = {
        field.name: "BIGINT" if pa.types.is_integer(field.type) else "VARCHAR" for field in schema
    }
    files = [str(path) for path in committed_files(sink) if path.stat().st_size]
    if not files:
        raise RheostatError(f"{sink} holds no row")
    with duckdb.connect() as connection:
        sink_rows = connection.read_json(files, columns=names, format="newline_delimited")  # type: ignore[arg-type]
        return sink_rows.filter(f"key <> '{CLOSING_KEY}'").to_arrow_table()


_COUNTS = f"""SELECT key, count(*) AS n, sum(seq)::BIGINT AS total, coalesce(max(md5), '{_EMPTY_MD5}') AS md5
    FROM rows GROUP BY key"""  # noqa: E501, S608

_SESSIONS = f"""WITH marked AS (SELECT *, coalesce(t_ms - lag(t_ms) OVER in_order > gap_ms, true) AS opens FROM rows
        WINDOW in_order AS (PARTITION BY key ORDER BY t_ms, seq)),
    numbered AS (SELECT *, sum(opens::INT) OVER (PARTITION BY key ORDER BY t_ms, seq ROWS UNBOUNDED PRECEDING) AS session FROM marked)
    SELECT key, min(t_ms) AS start_ms, count(*) AS n, sum(seq)::BIGINT AS total, coalesce(max(md5), '{_EMPTY_MD5}') AS md5
    FROM numbered WHERE key <> '{CLOSING_KEY}' GROUP BY key, session"""  # noqa: E501, S608

_PAIRS = f"""SELECT l.key AS key, l.seq AS left_seq, r.seq AS right_seq, coalesce(l.md5, '{_EMPTY_MD5}') AS md5
    FROM rows l JOIN others r ON l.key = r.key AND abs(r.t_ms - l.t_ms) <= {JOIN_RANGE_S * 1000} WHERE l.key <> '{CLOSING_KEY}'"""  # noqa: E501, S608

_WINDOWS = f"""SELECT key, t_ms - t_ms % {WINDOW_S * 1000} AS start_ms, count(*) AS n, sum(seq)::BIGINT AS total,
        coalesce(max(md5), '{_EMPTY_MD5}') AS md5
    FROM rows WHERE key <> '{CLOSING_KEY}' GROUP BY key, start_ms"""  # noqa: E501, S608

_SECONDS = f"""SELECT left(key, 2) AS key, t_ms - t_ms % {WINDOW_S * 1000} AS start_ms, count(DISTINCT t_ms // 1000) AS n
    FROM rows WHERE rows.key <> '{CLOSING_KEY}' GROUP BY left(rows.key, 2), start_ms"""  # noqa: E501, S608

_ORACLES = {
    "count": _COUNTS,
    "transform": _COUNTS,
    "session": _SESSIONS,
    "join": _PAIRS,
    "window": _WINDOWS,
    "several": _SECONDS,
    "distinct": f"SELECT DISTINCT key FROM rows WHERE key <> '{CLOSING_KEY}'",  # noqa: S608
}
