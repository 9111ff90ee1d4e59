"""q1, currency conversion: every bid with its price in euros. Stateless.

Deviation from the reference: a bid's ``id`` is kept, so that each output row is identified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rheostat_lab.nexmark.queries.query import Frames, Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def frame(events: Frames) -> DataFrame:
    """Return every bid with its price in euros, 0.908 of the dollars, as DECIMAL(23, 3)."""
    euros = "CAST(CAST(price AS DECIMAL(20, 0)) * 0.908BD AS DECIMAL(23, 3)) AS price"
    return events["bids"].selectExpr("id", "auction", "bidder", euros, "date_time", "extra")


QUERY = Query(
    name="q1",
    summary="map",
    sources=("bids",),
    frame=frame,
    twin="""
        SELECT id, auction, bidder,
            CAST(CAST(price AS DECIMAL(20, 0)) * CAST(0.908 AS DECIMAL(3, 3)) AS DECIMAL(23, 3)) AS price,
            date_time, extra
        FROM bids""",  # noqa: E501
    key="id",
    stateful=False,
)
