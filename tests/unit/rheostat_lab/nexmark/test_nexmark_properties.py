"""Sessions, outages, curves and topics of any kind equal those of plain Python."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.errors import RheostatError
from rheostat_lab.demo.verdict import expected
from rheostat_lab.nexmark.curve import EVERY_S, CurveFile, Point, read_curve
from rheostat_lab.nexmark.load import OUTAGE_S, Outage
from rheostat_lab.nexmark.queries import find_query
from rheostat_lab.nexmark.topic_events import events_of, read_to_end
from rheostat_lab.rescale.stateful_oracle import compare

GAP_S = 10


def table_of(bids: list[tuple[int, int]]) -> pa.Table:
    bidders, times = zip(*bids, strict=True)
    return pa.table(
        {
            "id": pa.array(range(len(bids)), pa.int64()),
            "bidder": pa.array(bidders, pa.int64()),
            "date_time": pa.array(times, pa.timestamp("ms", tz="UTC")),
        }
    )


def sessions_of(bids: list[tuple[int, int]]) -> Counter[tuple[int, int, int, int]]:
    """Return (bidder, bids, start, end) of each session, in milliseconds, by a plain loop."""
    sessions: Counter[tuple[int, int, int, int]] = Counter()
    for bidder in {bidder for bidder, _ in bids}:
        times = sorted(t for owner, t in bids if owner == bidder)
        first = last = times[0]
        count = 0
        for t in (*times, times[-1] + 1000 * GAP_S + 1):
            if t - last > 1000 * GAP_S:
                sessions[bidder, count, first, last + 1000 * GAP_S] += 1
                first, count = t, 0
            last, count = t, count + 1
    return sessions


def test_sessions_match_a_plain_loop_in_any_order() -> None:
    draw = random.Random(11)
    # Use a hundred bidders at once: a query costs more than all their rows. Every second time is a
    # multiple of the gap, so that many bids are exactly a gap apart.
    bids = [
        (bidder, draw.choice((draw.randrange(60_000), 1000 * GAP_S * draw.randrange(6))))
        for bidder in range(100)
        for _ in range(draw.randrange(1, 12))
    ]
    draw.shuffle(bids)
    bids.append((0, 10**7))  # it closes all other sessions
    _, due = expected(find_query("q11"), {"bids": table_of(bids)})
    bids.pop()
    rows = due.to_pylist()
    assert sum(row["bid_count"] for row in rows) == len(bids)
    assert sessions_of(bids) == Counter(
        (row["bidder"], row["bid_count"], _ms(row["start_time"]), _ms(row["end_time"]))
        for row in rows
    )


def _ms(moment: datetime) -> int:
    return round((moment - datetime(1970, 1, 1)).total_seconds() * 1000)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [([1, 1, 2], [2, 1, 1]), ([1, 1, 2], [1, 2, 2]), ([], [3, 3]), ([3, 3, 4], [3])],
)
def test_two_tables_are_compared_as_multisets(expected: list[int], actual: list[int]) -> None:
    verdict = compare(*(pa.table({"x": pa.array(x, pa.int64())}) for x in (expected, actual)))
    lacking, surplus = Counter(expected) - Counter(actual), Counter(actual) - Counter(expected)
    assert (verdict.missing, verdict.unexpected) == (lacking.total(), surplus.total())
    assert (verdict.expected, verdict.actual) == (len(expected), len(actual))
    assert verdict.exact == (sorted(expected) == sorted(actual))


points = st.lists(
    st.tuples(st.integers(1, 900), st.integers(0, 50), st.integers(-3, 50)), min_size=1, max_size=20
)


@settings(max_examples=12, deadline=None)
@given(points)
def test_a_curve_survives_a_round_trip_and_never_decreases(
    steps: list[tuple[int, int, int]],
) -> None:
    with TemporaryDirectory() as name:
        path, now, rows, acked = Path(name) / "curve", 100.0, 0, 0
        file = CurveFile(path, 100.0, {"peak_s": 3.0})
        for wait_ms, more, through in steps:
            now, rows = now + wait_ms / 1000, rows + more
            acked = min(rows, acked + through)
            file.note(Point(now, rows, acked, 12.3456))
        file.close(Point(now, rows, rows, 0.0))
        text = path.read_text(encoding="utf-8")
        curve = read_curve(path)
        # A line that is being written does not count yet.
        path.write_text(text + '{"t_s": 1', encoding="utf-8")
        assert read_curve(path) == curve
    assert (curve.start_s, curve.marks) == (100.0, {"peak_s": 3.0})
    assert curve.points[-1] == Point(round(now, 3), rows, rows, 0.0)
    for early, late in zip(curve.points, curve.points[1:], strict=False):
        assert early.acked <= late.acked
        assert early.rows <= late.rows
    for early, late in zip(curve.points, curve.points[1:-1], strict=False):
        assert late.t_s - early.t_s >= EVERY_S / 2 - 0.002


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0.05, 0.9), st.booleans(), st.booleans()), max_size=30))
def test_an_outage_lasts_from_a_second_of_silence_to_the_last_waiting_row(
    ticks: list[tuple[float, bool, bool]],
) -> None:
    """In each tick a row may be written, and the broker may accept one or (both) all that wait."""
    outage, now, answered_s, rows, waiting, lasted = Outage(), 0.0, 0.0, 0, 0, False
    for wait_s, writes, takes in ticks:
        now += wait_s
        if writes and not lasted:
            rows, waiting = rows + 1, waiting + 1
        if takes and waiting:
            waiting = 0 if writes else waiting - 1
            answered_s = now
        answered_s = now if waiting == 0 else answered_s
        lasted = waiting > 0 and (lasted or now - answered_s > OUTAGE_S)
        assert outage.lasts(rows, waiting, now) == lasted


@dataclass
class FakeMessage:
    """A message of a consumer: a value, or an error."""

    place: int
    content: bytes | None = None
    failed: int | None = None

    def error(self) -> KafkaError | None:
        return None if self.failed is None else KafkaError(self.failed)

    def partition(self) -> int:
        return self.place

    def value(self) -> bytes | None:
        return self.content


class FakeConsumer:
    """A consumer that returns these messages, several at a time."""

    def __init__(self, messages: list[FakeMessage], at_a_time: int) -> None:
        self.messages, self.at_a_time = messages, at_a_time

    def consume(self, num_messages: int, timeout: float) -> list[FakeMessage]:
        taken, self.messages = self.messages[: self.at_a_time], self.messages[self.at_a_time :]
        return taken


END = KafkaError._PARTITION_EOF


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=20),
    st.integers(1, 7),
    st.permutations([0, 1, 2]),
)
def test_a_topic_is_read_until_every_partition_has_ended(
    records: list[tuple[int, bool]], at_a_time: int, order: list[int]
) -> None:
    """Ends may be reported early, and records may follow."""
    messages = [
        FakeMessage(place, failed=END) if end else FakeMessage(place, content=b"%d" % number)
        for number, (place, end) in enumerate(records)
    ]
    messages += [FakeMessage(place, failed=END) for place in order]
    wanted: list[bytes | None] = []
    ended: set[int] = set()
    for first in range(0, len(messages), at_a_time):
        # Check only between two answers: a record in the same answer revokes an end.
        if len(ended) == 3:
            break
        for message in messages[first : first + at_a_time]:
            if message.failed is None:
                wanted.append(message.content)
                ended.discard(message.place)
            else:
                ended.add(message.place)
    assert list(read_to_end(FakeConsumer(messages, at_a_time), 3)) == wanted


def test_a_broker_error_does_not_end_a_partition() -> None:
    source = FakeConsumer([FakeMessage(0, failed=KafkaError._ALL_BROKERS_DOWN)], 1)
    with pytest.raises(KafkaException):
        list(read_to_end(source, 1))


def test_records_are_parsed_as_bids_and_an_empty_topic_has_none() -> None:
    bid = {"id": 1, "auction": 2, "bidder": 3, "price": 4, "date_time": 5, "extra": "x", "url": "u"}
    (row,) = events_of(iter([json.dumps(bid).encode()])).to_pylist()
    assert (row["id"], row["extra"], row["date_time"].microsecond) == (1, "x", 5000)
    assert events_of(iter([])).num_rows == 0
    with pytest.raises(RheostatError, match="of 2 records of the topic 1 are bids"):
        events_of(iter([json.dumps(bid).encode(), b""]))
