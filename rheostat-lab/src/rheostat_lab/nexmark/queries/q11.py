"""q11, user sessions: the number of bids in each session of a bidder, which ends 10 seconds after
its last bid.

As in the reference, plus the start and end of the session. Two bids exactly 10 seconds apart are
one session, as in Spark's ``session_window``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rheostat_lab.nexmark.queries.query import DELAY_S, Frames, Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def frame(events: Frames) -> DataFrame:
    """Return bidder, number of bids, start and end of each session (end = last bid + 10 s)."""
    from pyspark.sql import functions as sf

    counts = (
        events["bids"]
        .withWatermark("date_time", f"{DELAY_S} seconds")
        .groupBy("bidder", sf.session_window("date_time", "10 seconds").alias("session"))
        .agg(sf.count("*").alias("bid_count"))
    )
    return counts.selectExpr(
        "bidder", "bid_count", "session.start AS start_time", "session.end AS end_time"
    )


# Gaps and islands: a bid opens a session if the previous one is more than a gap away.
QUERY = Query(
    name="q11",
    summary="session windows",
    sources=("bids",),
    frame=frame,
    twin="""
        WITH marked AS (
            SELECT bidder, id, date_time,
                coalesce(date_time - lag(date_time) OVER in_order > INTERVAL 10 SECONDS, true) AS opens
            FROM bids WINDOW in_order AS (PARTITION BY bidder ORDER BY date_time, id)),
        numbered AS (
            SELECT *, sum(opens::INT) OVER (
                PARTITION BY bidder ORDER BY date_time, id ROWS UNBOUNDED PRECEDING) AS session
            FROM marked)
        SELECT bidder, count(*) AS bid_count, min(date_time) AS start_time,
            max(date_time) + INTERVAL 10 SECONDS AS end_time
        FROM numbered GROUP BY bidder, session""",  # noqa: E501
    key="bidder, start_time",
    closes="end_time",
)
