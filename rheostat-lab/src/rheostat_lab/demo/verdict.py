"""The verdict on the output: the complete contents of the sink against a batch computation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from rheostat.errors import RheostatError
from rheostat_lab.demo.file_sink import committed_files
from rheostat_lab.nexmark.queries import find_query
from rheostat_lab.nexmark.queries.query import DELAY_S, Query
from rheostat_lab.nexmark.topic_events import read_events
from rheostat_lab.report.finished_run import Verdict

Tables: TypeAlias = "Mapping[str, pa.Table]"
"""Events by kind."""

# The comparison runs in parts, by a hash of the key, and needs an eighth of the memory.
_PARTS = 8


def verify(query: str, bootstrap: str, topics: Mapping[str, str], sink: Path) -> Verdict:
    """Read the topics (by kind of events) to their end and compare the file sink ``sink`` (Parquet)
    with the expected output of ``query``.

    Unreadable data make the verdict "not exact", with the reason; raises BadInput for an unknown
    query.
    """
    known = find_query(query)
    try:
        rows_in, due = expected(
            known, {kind: read_events(bootstrap, topics[kind], kind) for kind in known.sources}
        )  # Releases the events before the sink is read.
        return _compare(known, rows_in, due, read_sink(sink))
    except RheostatError as error:
        return Verdict(
            exact=False,
            rows_in=0,
            rows_out=0,
            missing=0,
            duplicated=0,
            wrong=0,
            detail=f"not verified: {error}",
        )


def read_sink(sink: Path) -> pa.Table | None:
    """Return the rows that a file sink has committed; None if it has committed none."""
    tables = [pa.parquet.ParquetFile(path).read() for path in committed_files(sink)]
    return pa.concat_tables(tables, promote_options="permissive") if tables else None


def judge(query: str, events: Tables, sink: pa.Table | None) -> Verdict:
    """Compare a query's output with its batch computation as multisets of complete rows."""
    known = find_query(query)
    return _compare(known, *expected(known, events), sink)


def expected(query: Query, events: Tables) -> tuple[int, pa.Table]:
    """Return the number of events, and the expected rows of the output.

    With windows, these are the rows that the final watermark has closed: the latest event of the
    source that is furthest behind, minus the delay. That holds for a query that has processed
    everything and then ran its batch without data. Fails when an event arrived in a later batch
    than one that is more than the delay younger, because Spark then drops it as late.
    """
    tables = {kind: _in_utc(events[kind]) for kind in query.sources}
    with duckdb.connect() as connection:
        for kind, table in tables.items():
            connection.register(kind, table)
        rows = connection.sql(query.twin).to_arrow_table()
    if query.closes:
        latest = [pa.compute.max(table["date_time"]).as_py() for table in tables.values()]
        watermark = min(latest) - timedelta(seconds=DELAY_S) if all(latest) else datetime.min
        rows = rows.filter(pa.compute.less_equal(rows[query.closes], watermark))
    return sum(table.num_rows for table in tables.values()), rows


def _in_utc(table: pa.Table) -> pa.Table:
    """Return a table with its times in microseconds UTC, whatever the format of its file."""
    return table.cast(
        pa.schema(
            [
                pa.field(
                    field.name,
                    pa.timestamp("us") if pa.types.is_timestamp(field.type) else field.type,
                )
                for field in table.schema
            ]
        )
    )


def _compare(query: Query, rows_in: int, due: pa.Table, sink: pa.Table | None) -> Verdict:
    output = due.schema.empty_table() if sink is None else _in_utc(sink).select(due.column_names)
    with duckdb.connect() as connection:
        connection.register("expected", due)
        connection.register("found", output)
        for name, one, other in (
            ("lacking", "expected", "found"),
            ("surplus", "found", "expected"),
        ):
            _difference(connection, name, one, other, query.key.split(",")[0])
        return _verdict(connection, rows_in, query)


def _difference(
    connection: duckdb.DuckDBPyConnection, name: str, one: str, other: str, key: str
) -> None:
    """Create a table of the rows of ``one`` that ``other`` lacks, in parts, because the complete
    rows of a million bids take 500 MB at once.
    """
    connection.execute(f"CREATE TEMP TABLE {name} AS FROM {one} LIMIT 0")
    for part in range(_PARTS):
        # By a hash of the key, so that a row and its match are always in the same part.
        mine, others = (
            f"SELECT * FROM {table} WHERE hash({key}) % {_PARTS} = {part}"  # noqa: S608
            for table in (one, other)
        )
        # ALL compares multisets; otherwise a duplicated row would pass.
        connection.execute(f"INSERT INTO {name} {mine} EXCEPT ALL {others}")


def _verdict(connection: duckdb.DuckDBPyConnection, rows_in: int, query: Query) -> Verdict:
    """Classify the differences: a missing key that exists with other contents is wrong, and so is
    an unknown key.
    """
    key = query.key
    lacking, surplus = _count(connection, "FROM lacking"), _count(connection, "FROM surplus")
    changed = _count(connection, f"FROM lacking SEMI JOIN surplus USING ({key})")
    unknown = _count(connection, f"FROM surplus ANTI JOIN expected USING ({key})")
    # A row whose key is in both differences is one fault, not two.
    missing, wrong, duplicated = lacking - changed, changed + unknown, surplus - changed - unknown
    return Verdict(
        exact=lacking == 0 and surplus == 0,
        rows_in=rows_in,
        rows_out=_count(connection, f"FROM (SELECT DISTINCT {key} FROM found)"),  # noqa: S608
        missing=missing,
        duplicated=duplicated,
        wrong=wrong,
        detail=_detail(connection, {"missing": missing, "duplicated": duplicated, "wrong": wrong}),
    )


def _detail(connection: duckdb.DuckDBPyConnection, faults: dict[str, int]) -> str:
    if not any(faults.values()):
        return (
            f"all {_count(connection, 'FROM expected'):,} rows are in the sink, once each and with"
            " the right contents"
        )
    counted = ", ".join(f"{count:,} {fault}" for fault, count in faults.items() if count)
    examples = [
        *_example(connection, "expected", "lacking"),
        *_example(connection, "found", "surplus"),
    ]
    return f"rows: {counted}; for example {'; '.join(examples)}"


def _example(connection: duckdb.DuckDBPyConnection, word: str, table: str) -> list[str]:
    """Return a description of the first row of a table, without the long text, if any."""
    rows = connection.table(table).order("ALL").limit(1)
    named = [zip(rows.columns, row, strict=True) for row in rows.fetchall()]
    return [
        f"{word} " + ", ".join(f"{name} {value}" for name, value in row if name != "extra")
        for row in named
    ]


def _count(connection: duckdb.DuckDBPyConnection, rows: str) -> int:
    return int(connection.sql(f"SELECT count(*) {rows}").fetchall()[0][0])
