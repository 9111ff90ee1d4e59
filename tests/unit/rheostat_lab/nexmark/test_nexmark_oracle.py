from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa

from rheostat_lab.nexmark import oracle
from rheostat_lab.nexmark.bids import Bids, bids

MS = pa.timestamp("ms", tz="UTC")


def _bids(*events: tuple[int, int]) -> pa.Table:
    """Bids of (bidder, milliseconds)."""
    bidders, times = zip(*events, strict=True)
    rows = {"id": range(len(events)), "bidder": bidders}
    return pa.table(
        {
            **{name: pa.array(list(values), pa.int64()) for name, values in rows.items()},
            "date_time": pa.array(times, MS),
        }
    )


def _sessions(*rows: tuple[int, int, int, int]) -> pa.Table:
    """A sink of (bidder, bid_count, start and end in milliseconds)."""
    bidder, count, start, end = (list(column) for column in zip(*rows, strict=True))
    return pa.table(
        {
            "bidder": bidder,
            "bid_count": count,
            "start_time": pa.array(start, MS),
            "end_time": pa.array(end, MS),
        }
    )


def test_q1_is_the_price_in_euros_exactly() -> None:
    batch = bids(7, 0, 100)
    euros = oracle.q1(oracle.bids_table(batch, 5000)).column("price").to_pylist()
    assert euros == [Decimal(price) * Decimal("0.908") for price in batch.price.tolist()]


def test_bids_exactly_a_gap_apart_are_one_session_and_a_millisecond_more_makes_two() -> None:
    found = oracle.q11(_bids((1, 0), (1, 10_000), (2, 0), (2, 10_001))).to_pylist()
    counted = sorted(
        (row["bidder"], row["start_us"] // 1000, row["end_us"] // 1000, row["bid_count"])
        for row in found
    )
    assert counted == [(1, 0, 20_000, 2), (2, 0, 10_000, 1), (2, 10_001, 20_001, 1)]


def test_bids_of_the_same_moment_are_one_session() -> None:
    assert oracle.q11(_bids((1, 0), (1, 0), (1, 0))).column("bid_count").to_pylist() == [3]


def test_only_sessions_that_the_watermark_has_passed_are_due() -> None:
    events = _bids((1, 0), (2, 1000), (3, 14_000))  # the watermark ends at 14 s - 4 s = 10 s
    assert oracle.check_q11(events, _sessions((1, 1, 0, 10_000))).exact
    both = _sessions((1, 1, 0, 10_000), (2, 1, 1000, 11_000))
    assert oracle.check_q11(events, both).unexpected == 1
    at_11_s = dt.datetime.fromtimestamp(11, dt.timezone.utc)
    assert oracle.check_q11(events, both, watermark=at_11_s).exact


def test_a_bid_that_is_missing_twice_or_changed_is_seen() -> None:
    table = oracle.bids_table(bids(7, 0, 10), 5000)
    sink = _q1_sink(bids(7, 0, 10))
    assert oracle.check_q1(table, sink).exact
    assert oracle.check_q1(table, sink.slice(1)) == oracle.Verdict(
        expected=10, actual=9, missing=1, unexpected=0
    )
    assert oracle.check_q1(table, pa.concat_tables([sink, sink.slice(3, 2)])).unexpected == 2
    changed = sink.set_column(1, "auction", pa.array(np.asarray(sink.column("auction")) + 1))
    assert oracle.check_q1(table, changed) == oracle.Verdict(
        expected=10, actual=10, missing=10, unexpected=10
    )


def _q1_sink(batch: Bids) -> pa.Table:
    euros = pa.array(
        [Decimal(price) * Decimal("0.908") for price in batch.price.tolist()], pa.decimal128(23, 3)
    )
    bid = oracle.bids_table(batch, 5000)
    return bid.select(["id", "auction", "bidder", "date_time", "extra"]).append_column(
        "price", euros
    )
