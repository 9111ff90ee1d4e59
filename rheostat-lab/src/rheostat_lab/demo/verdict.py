"""The verdict on the output: the sink, by whole contents, against a batch computation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from rheostat.errors import BadInput, RheostatError
from rheostat_lab.demo.file_sink import committed_files
from rheostat_lab.nexmark import oracle
from rheostat_lab.nexmark.topic_bids import read_bids
from rheostat_lab.report.finished_run import Verdict

QUERIES = ("q1", "q11")
_SINK = {
    "q1": "SELECT id, auction, bidder, price, epoch_us(date_time) AS time_us, extra FROM sink",
    "q11": (
        "SELECT bidder, bid_count, epoch_us(start_time) AS start_us, epoch_us(end_time) AS end_us"
        " FROM sink"
    ),
}
# A part at a time, by a hash of the key: the comparison needs an eighth of the memory.
_PARTS = 8
_KEY = {"q1": "id", "q11": "bidder, start_us"}
_ROWS_OUT = {
    "q1": "SELECT count(DISTINCT id) FROM found",
    "q11": "SELECT coalesce(sum(bid_count), 0)::BIGINT FROM found",
}


@dataclass(frozen=True, slots=True)
class Sessions:
    """How q11 was run: gap and watermark delay, and the final watermark (aware) if it is known.

    A session counts as closed, and must be in the sink, exactly if its end (last bid + gap) is at
    or below the final watermark ``watermark_at_s`` (Unix seconds); None takes the latest bid of the
    topic minus ``delay_s``, which holds for a query that has processed the whole topic and then ran
    its batch without data. So a bid that is appended after the load, more than ``gap_s + delay_s``
    younger than all others, closes all sessions but its own.
    """

    gap_s: int = 10
    delay_s: int = 4
    watermark_at_s: float | None = None


def verify(
    query: str, bootstrap: str, topic: str, sink: Path, sessions: Sessions | None = None
) -> Verdict:
    """Read the topic to its end and compare the file sink ``sink`` (Parquet) with what ``query``
    must give.

    What cannot be read makes the verdict "not exact", with the reason; raises BadInput for an
    unknown query.
    """
    if query not in QUERIES:
        raise BadInput(f"there is no oracle for query {query!r}; there are {', '.join(QUERIES)}")
    try:
        rows_in, expected = _expected(
            query, read_bids(bootstrap, topic), sessions
        )  # The bids are let go before the sink is read.
        return _compare(query, rows_in, expected, read_sink(sink))
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


def judge(
    query: str, bids: pa.Table, sink: pa.Table | None, sessions: Sessions | None = None
) -> Verdict:
    """Compare a query's output with its batch computation as multisets of whole rows."""
    return _compare(query, *_expected(query, bids, sessions), sink)


def _expected(query: str, bids: pa.Table, sessions: Sessions | None) -> tuple[int, pa.Table]:
    return bids.num_rows, (
        oracle.q1(bids) if query == "q1" else _closed(bids, sessions or Sessions())
    )


def _compare(query: str, rows_in: int, expected: pa.Table, sink: pa.Table | None) -> Verdict:
    with duckdb.connect() as connection:
        connection.register("expected", expected)
        connection.execute(_sink_view(connection, query, sink, expected.schema))
        for name, one, other in (
            ("lacking", "expected", "found"),
            ("surplus", "found", "expected"),
        ):
            _difference(connection, name, one, other, _KEY[query].split(",")[0])
        return _verdict(connection, rows_in, query)


def _difference(
    connection: duckdb.DuckDBPyConnection, name: str, one: str, other: str, key: str
) -> None:
    """Make a table of the rows of ``one`` that ``other`` lacks, in parts: whole rows of a million
    bids take 500 MB at once.
    """
    connection.execute(f"CREATE TEMP TABLE {name} AS FROM {one} LIMIT 0")
    for part in range(_PARTS):
        # By a hash of the key, so that a row and its match are always in the same part.
        mine, others = (
            f"SELECT * FROM {table} WHERE hash({key}) % {_PARTS} = {part}"  # noqa: S608
            for table in (one, other)
        )
        # ALL: multisets, or a row that came twice would pass.
        connection.execute(f"INSERT INTO {name} {mine} EXCEPT ALL {others}")


def _closed(bids: pa.Table, how: Sessions) -> pa.Table:
    """Return the sessions that the final watermark has closed."""
    # The batch without data has moved the watermark to the latest bid of all.
    latest = pa.compute.max(bids["date_time"].cast(pa.int64())).as_py() or 0
    watermark_s = latest / 1000 - how.delay_s if how.watermark_at_s is None else how.watermark_at_s
    every = oracle.q11(bids, how.gap_s)
    return every.filter(pa.compute.less_equal(every["end_us"], round(watermark_s * 1_000_000)))


def _sink_view(
    connection: duckdb.DuckDBPyConnection, query: str, sink: pa.Table | None, schema: pa.Schema
) -> str:
    """Return the statement that makes what the sink holds comparable."""
    if sink is None:
        connection.register("nothing", schema.empty_table())
        return "CREATE TEMP VIEW found AS SELECT * FROM nothing"
    connection.register("sink", sink)
    return f"CREATE TEMP VIEW found AS {_SINK[query]}"


def _verdict(connection: duckdb.DuckDBPyConnection, rows_in: int, query: str) -> Verdict:
    """Sort the differences: a key that lacks and is there with other contents is wrong, and so is a
    key that is unknown.
    """
    key = _KEY[query]
    lacking, surplus = _count(connection, "FROM lacking"), _count(connection, "FROM surplus")
    changed = _count(connection, f"FROM lacking SEMI JOIN surplus USING ({key})")
    unknown = _count(connection, f"FROM surplus ANTI JOIN expected USING ({key})")
    # A row whose key is in both differences is one fault and not two.
    missing, wrong, duplicated = lacking - changed, changed + unknown, surplus - changed - unknown
    return Verdict(
        exact=lacking == 0 and surplus == 0,
        rows_in=rows_in,
        rows_out=_value(connection, _ROWS_OUT[query]),
        missing=missing,
        duplicated=duplicated,
        wrong=wrong,
        detail=_detail(
            connection, query, {"missing": missing, "duplicated": duplicated, "wrong": wrong}
        ),
    )


def _detail(connection: duckdb.DuckDBPyConnection, query: str, faults: dict[str, int]) -> str:
    what = "bids" if query == "q1" else "closed sessions"
    if not any(faults.values()):
        return (
            f"all {_count(connection, 'FROM expected'):,} {what} are in the sink, each once and"
            " with the right contents"
        )
    counted = ", ".join(f"{count:,} {fault}" for fault, count in faults.items() if count)
    examples = [
        *_example(connection, "expected", "lacking"),
        *_example(connection, "found", "surplus"),
    ]
    return f"{what}: {counted}; for example {'; '.join(examples)}"


def _example(connection: duckdb.DuckDBPyConnection, word: str, table: str) -> list[str]:
    """Return the first row of a table in words, without the long text; nothing of an empty
    table.
    """
    rows = connection.table(table).order("ALL").limit(1)
    named = [zip(rows.columns, row, strict=True) for row in rows.fetchall()]
    return [
        f"{word} " + ", ".join(f"{name} {value}" for name, value in row if name != "extra")
        for row in named
    ]


def _count(connection: duckdb.DuckDBPyConnection, rows: str) -> int:
    return _value(connection, f"SELECT count(*) {rows}")


def _value(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    return int(connection.sql(sql).fetchall()[0][0])
