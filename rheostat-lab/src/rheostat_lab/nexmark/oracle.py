"""What the queries must give: the same in batch, by DuckDB, and the comparison with what a stream
wrote.

Bids and results are given as an Arrow table or as the path (or glob) of Parquet files. Times are
compared in microseconds of Unix time, so it does not matter how a file keeps its time zone.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import duckdb
import pyarrow as pa

from rheostat_lab.nexmark.bids import Bids

Rows: TypeAlias = "pa.Table | Path | str"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Two multisets of rows, compared: how many there should be, how many there are, how many lack
    and how many are too many.
    """

    expected: int
    actual: int
    missing: int
    unexpected: int

    @property
    def exact(self) -> bool:
        """Whether every expected row is there, as often as expected, and nothing else."""
        return self.missing == 0 and self.unexpected == 0


def q1(bids: Rows) -> pa.Table:
    """Return q1 of all bids: id, auction, bidder, price (DECIMAL(23, 3)), time_us, extra."""
    return _run(bids, _Q1)


def q11(bids: Rows, gap_s: int = 10) -> pa.Table:
    """Return all sessions, open ones too: bidder, bid_count, start_us, end_us; bids at most
    ``gap_s`` apart are one session.
    """
    return _run(bids, _Q11, gap_us=gap_s * 1_000_000)


def check_q1(bids: Rows, sink: Rows) -> Verdict:
    """Compare what q1 wrote with what it must give: each bid once."""
    return compare(q1(bids), _run(sink, _SINK_Q1))


def check_q11(
    bids: Rows,
    sink: Rows,
    gap_s: int = 10,
    watermark_s: int = 4,
    watermark: dt.datetime | None = None,
) -> Verdict:
    """Compare the sessions that q11 wrote in append mode with those that the watermark has closed.

    A session is due exactly if its end is at or below the final ``watermark`` (aware; from the last
    progress event that had its batch run; by default the latest bid minus ``watermark_s``, which is
    right for a query that has processed all bids and then ran its batch without data). Fails when:
    a bid arrived in a later batch than a bid more than ``watermark_s`` seconds younger (Spark then
    may have closed its session before it came).
    """
    sessions = q11(bids, gap_s)
    if watermark is None:
        closed = _run(
            sessions,
            "FROM rows WHERE end_us <= (SELECT max(end_us) FROM rows) - $open",
            open=(gap_s + watermark_s) * 1_000_000,
        )
    else:
        limit_us = (watermark - dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)) // dt.timedelta(
            microseconds=1
        )
        closed = _run(sessions, "FROM rows WHERE end_us <= $limit", limit=limit_us)
    return compare(closed, _run(sink, _SINK_Q11))


def compare(expected: pa.Table, actual: pa.Table) -> Verdict:
    """Compare two tables with the same columns as multisets of rows."""
    with duckdb.connect() as connection:
        connection.register("expected", expected)
        connection.register("actual", actual)
        # ALL keeps counts: a row that is there twice, and once expected, is one too many.
        missing = connection.sql("FROM expected EXCEPT ALL FROM actual").to_arrow_table()
        unexpected = connection.sql("FROM actual EXCEPT ALL FROM expected").to_arrow_table()
    return Verdict(
        expected=expected.num_rows,
        actual=actual.num_rows,
        missing=missing.num_rows,
        unexpected=unexpected.num_rows,
    )


def bids_table(batch: Bids, created_ms: int | list[int]) -> pa.Table:
    """Return bids as an Arrow table; ``created_ms`` (Unix milliseconds) is one for all or one for
    each.
    """
    times = [created_ms] * len(batch) if isinstance(created_ms, int) else created_ms
    columns = {
        name: pa.array(getattr(batch, name)) for name in ("id", "auction", "bidder", "price")
    }
    texts = {"channel": batch.channels(), "url": batch.urls()}
    return pa.table(
        {
            **columns,
            **texts,
            "date_time": pa.array(times, pa.timestamp("ms", tz="UTC")),
            "extra": batch.extras(),
        }
    )


_Q1 = """SELECT id, auction, bidder, CAST(CAST(price AS DECIMAL(20, 0)) * CAST(0.908 AS DECIMAL(3, 3)) AS DECIMAL(23, 3)) AS price,
    epoch_us(date_time) AS time_us, extra FROM rows"""  # noqa: E501

# Gaps and islands: a bid opens a session where the one before it is more than a gap away.
_Q11 = """WITH bids AS (SELECT bidder, id, epoch_us(date_time) AS time_us FROM rows),
    marked AS (SELECT *, coalesce(time_us - lag(time_us) OVER in_order > $gap_us, true) AS opens FROM bids
        WINDOW in_order AS (PARTITION BY bidder ORDER BY time_us, id)),
    numbered AS (SELECT *, sum(opens::INT) OVER (PARTITION BY bidder ORDER BY time_us, id ROWS UNBOUNDED PRECEDING) AS session FROM marked)
    SELECT bidder, count(*) AS bid_count, min(time_us) AS start_us, max(time_us) + $gap_us AS end_us
    FROM numbered GROUP BY bidder, session"""  # noqa: E501

_SINK_Q1 = "SELECT id, auction, bidder, price, epoch_us(date_time) AS time_us, extra FROM rows"
_SINK_Q11 = (
    "SELECT bidder, bid_count, epoch_us(start_time) AS start_us, epoch_us(end_time) AS end_us FROM"
    " rows"
)


def _run(rows: Rows, sql: str, **parameters: int) -> pa.Table:
    with duckdb.connect() as connection:
        if isinstance(rows, pa.Table):
            connection.register("rows", rows)
        else:
            connection.read_parquet(str(rows)).create_view("rows")
        return connection.sql(sql, params=parameters or None).to_arrow_table()
