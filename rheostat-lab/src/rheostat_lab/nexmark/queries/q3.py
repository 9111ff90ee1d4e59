"""q3, local item suggestion: the sellers in a category, in three states. A join of two streams
whose state grows without bound, because a person from long ago may sell today.

As in the reference; an auction is joined when it arrives if its seller is known by then, otherwise
when the seller arrives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rheostat_lab.nexmark.queries.query import Frames, Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def frame(events: Frames) -> DataFrame:
    """Return the seller's name, city and state and the number of each auction of category 10 whose
    seller lives in Oregon, Idaho or California.
    """
    auctions = events["auctions"].where("category = 10").selectExpr("id AS auction", "seller")
    sellers = (
        events["persons"]
        .where("state IN ('OR', 'ID', 'CA')")
        .selectExpr("id AS person", "name", "city", "state")
    )
    joined = auctions.join(sellers, auctions["seller"] == sellers["person"])
    return joined.select("name", "city", "state", "auction")


QUERY = Query(
    name="q3",
    summary="join of two streams, state without bound",
    sources=("auctions", "persons"),
    frame=frame,
    twin="""
        SELECT name, city, state, auctions.id AS auction
        FROM auctions JOIN persons ON seller = persons.id
        WHERE category = 10 AND state IN ('OR', 'ID', 'CA')""",
    key="auction",
)
