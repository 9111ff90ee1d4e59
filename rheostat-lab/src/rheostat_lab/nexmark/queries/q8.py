"""q8, new users: the persons who registered and offered an auction within the same 10 seconds.

As in the reference, plus the window's end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rheostat_lab.nexmark.queries.query import DELAY_S, Frames, Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def frame(events: Frames) -> DataFrame:
    """Return id and name of each person who registered in a window of 10 seconds and sold in it,
    with the window's start and end.
    """
    from pyspark.sql import functions as sf

    window, late = sf.window("date_time", "10 seconds"), f"{DELAY_S} seconds"
    people = (
        events["persons"]
        .withWatermark("date_time", late)
        .groupBy(window.alias("span"), "id", "name")
        .agg(sf.count("*").alias("registrations"))
    )
    sellers = (
        events["auctions"]
        .withWatermark("date_time", late)
        .groupBy(window.alias("sold"), "seller")
        .agg(sf.count("*").alias("auctions"))
    )
    same = (people["id"] == sellers["seller"]) & (people["span"] == sellers["sold"])
    return people.join(sellers, same).selectExpr(
        "id", "name", "span.start AS start_time", "span.end AS end_time"
    )


QUERY = Query(
    name="q8",
    summary="join of two streams by windows",
    sources=("persons", "auctions"),
    frame=frame,
    twin="""
        WITH people AS (
            SELECT DISTINCT id, name, epoch_ms(date_time) // 10000 AS span FROM persons),
        sellers AS (SELECT DISTINCT seller, epoch_ms(date_time) // 10000 AS span FROM auctions)
        SELECT id, name, make_timestamp(people.span * 10000000) AS start_time,
            make_timestamp((people.span + 1) * 10000000) AS end_time
        FROM people JOIN sellers ON id = seller AND people.span = sellers.span""",
    key="id, start_time",
    closes="end_time",
)
