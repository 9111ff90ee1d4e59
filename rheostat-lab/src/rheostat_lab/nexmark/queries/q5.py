"""q5, hot items: the auctions with the most bids in the last 10 seconds, every 2 seconds.

Deviations from the reference: instead of a join of the counts with their maximum, the counts of a
window are collected when it closes and the largest are kept, which reads the bids once. All
auctions with the same maximum are kept, as in the reference. The output adds the window's end and
the count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rheostat_lab.nexmark.queries.query import DELAY_S, Frames, Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def frame(events: Frames) -> DataFrame:
    """Return auction, number of bids and end of the window, for the auctions with the most bids in
    each window of 10 seconds that begins every 2 seconds.
    """
    from pyspark.sql import functions as sf

    counts = (
        events["bids"]
        .withWatermark("date_time", f"{DELAY_S} seconds")
        .groupBy(sf.window("date_time", "10 seconds", "2 seconds").alias("span"), "auction")
        .agg(sf.count("*").alias("bids"))
    )
    closed = counts.groupBy("span").agg(
        sf.max("bids").alias("most"),
        sf.collect_list(sf.struct("auction", "bids")).alias("counts"),
    )
    hottest = sf.expr("explode(filter(counts, entry -> entry.bids = most))").alias("hot")
    return closed.select("span", hottest).selectExpr(
        "hot.auction", "hot.bids", "span.end AS end_time"
    )


QUERY = Query(
    name="q5",
    summary="sliding windows, largest count",
    sources=("bids",),
    frame=frame,
    twin="""
        WITH starts AS (
            SELECT auction, epoch_ms(date_time) // 2000 * 2000 AS latest_ms FROM bids),
        counts AS (
            SELECT auction, latest_ms - 2000 * step + 10000 AS end_ms, count(*) AS bids
            FROM starts, range(5) AS steps(step) GROUP BY ALL)
        SELECT auction, bids, make_timestamp(end_ms * 1000) AS end_time
        FROM counts QUALIFY bids = max(bids) OVER (PARTITION BY end_ms)""",
    key="auction, end_time",
    closes="end_time",
)
