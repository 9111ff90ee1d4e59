"""q2, selection: the bids on every 123rd auction. Stateless.

Deviation from the reference: a bid's ``id`` is kept, so that each output row is identified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rheostat_lab.nexmark.queries.query import Frames, Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def frame(events: Frames) -> DataFrame:
    """Return id, auction and price of the bids whose auction number is a multiple of 123."""
    return events["bids"].where("auction % 123 = 0").select("id", "auction", "price")


QUERY = Query(
    name="q2",
    summary="filter",
    sources=("bids",),
    frame=frame,
    twin="SELECT id, auction, price FROM bids WHERE auction % 123 = 0",
    key="id",
    stateful=False,
)
