"""Persons and auctions, and the properties of all kinds of events."""

from __future__ import annotations

import json
import math
from datetime import datetime, timezone

import numpy as np
import pyarrow as pa
import pytest

from rheostat.errors import BadInput
from rheostat_lab.nexmark.encoding import encode, iterate, tables, to_table
from rheostat_lab.nexmark.events import KINDS, event_numbers, events, number_before

N = 100_000
FIRST = 300_000
AUCTIONS = events("auctions", 7, FIRST, N).columns
CREATED_MS = 1_763_662_000_123


def _agrees(share: float, wanted: float, n: int = N) -> bool:
    """Return whether a share of ``n`` draws is in its 99.99 % confidence interval."""
    return abs(share - wanted) < 3.9 * math.sqrt(wanted * (1 - wanted) / n)


def test_fifty_events_are_one_person_three_auctions_and_46_bids() -> None:
    assert [number_before(kind, 5000) for kind in KINDS] == [100, 300, 4600]
    order = [kind for kind, _ in iterate(7, 50, 50, 100.0)]
    assert order == ["persons", *["auctions"] * 3, *["bids"] * 46]


def test_three_quarters_of_the_auctions_come_from_the_hot_seller() -> None:
    epoch = (AUCTIONS["id"] - 1000) // 3
    hot = float(np.mean(AUCTIONS["seller"] == 1000 + epoch // 100 * 100))
    assert _agrees(hot, 0.75 + 0.25 / 1010)


def test_sellers_and_bidders_are_existing_persons() -> None:
    """The Flink port adds the first person's number twice to a bidder."""
    persons = set(events("persons", 7, 0, 2000).columns["id"].tolist())
    for kind, column in (("auctions", "seller"), ("bids", "bidder")):
        batch = events(kind, 7, 0, number_before(kind, 1900 * 50)).columns[column]
        assert set(batch.tolist()) <= persons


def test_bids_are_on_existing_auctions_or_the_next_ten() -> None:
    auctions = number_before("auctions", 50_000)
    on = events("bids", 7, 0, number_before("bids", 50_000)).columns["auction"]
    assert on.min() == 1000
    assert on.max() < 1000 + auctions + 10


def test_five_categories_are_equally_frequent() -> None:
    names, counts = np.unique(AUCTIONS["category"], return_counts=True)
    assert names.tolist() == [10, 11, 12, 13, 14]
    assert all(_agrees(count / N, 0.2) for count in counts)


def test_reserves_exceed_initial_bids_and_auctions_are_short() -> None:
    assert (AUCTIONS["reserve"] - AUCTIONS["initial_bid"]).min() >= 100
    assert (AUCTIONS["life_ms"].min(), AUCTIONS["life_ms"].max()) == (1, 333)


@pytest.mark.parametrize(("kind", "bytes_of_one"), [("persons", 200), ("auctions", 500)])
def test_records_have_the_average_size_of_the_reference(kind: str, bytes_of_one: int) -> None:
    table = to_table(events(kind, 7, 0, 20_000), CREATED_MS)
    size = sum(
        8 if not name or str(table[name].type) != "string" else _mean_length(table[name])
        for name in table.column_names
    )
    assert abs(size - bytes_of_one) < 0.03 * bytes_of_one


def _mean_length(column: pa.ChunkedArray) -> float:
    return float(np.mean([len(text) for text in column.to_pylist()]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [0, 9_990, 99_999_990, 10**10])
def test_a_json_record_contains_its_columns_and_creation_time(kind: str, first: int) -> None:
    batch = events(kind, 7, first, 20)
    rows = to_table(batch, CREATED_MS).to_pylist()
    for line, row in zip(encode(batch, CREATED_MS), rows, strict=True):
        assert b"\0" not in line
        assert b"\n" not in line
        assert json.loads(line) == {
            name: _ms(value) if isinstance(value, datetime) else value
            for name, value in row.items()
        }


def _ms(moment: datetime) -> int:
    return round((moment - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds() * 1000)


def test_an_event_is_created_when_its_number_is_due() -> None:
    made = tables(7, 0, 100, 50.0, 1_000_000)
    for kind, table in made.items():
        numbers = event_numbers(kind, np.arange(table.num_rows))
        assert [_ms(t) for t in table["date_time"].to_pylist()] == [
            1_000_000 + 20 * number for number in numbers.tolist()
        ]


def test_an_unknown_kind_is_rejected() -> None:
    with pytest.raises(BadInput, match="no kind of events 'bid'; there are persons, auctions"):
        events("bid", 7, 0, 1)
