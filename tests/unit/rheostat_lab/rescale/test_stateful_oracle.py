from __future__ import annotations

import hashlib

import pytest

from rheostat.errors import BadInput
from rheostat_lab.rescale.stateful_oracle import expected, last_counts, rows_table
from rheostat_lab.rescale.stateful_rows import CLOSING_KEY, KEEPING, Rows, Shape

EMPTY, VALUE = hashlib.md5(b"").hexdigest(), hashlib.md5(b"abc").hexdigest()


class FakeProducer:
    """A producer that stores its records."""

    def __init__(self) -> None:
        self.records: list[tuple[str, bytes]] = []

    def produce(self, topic: str, value: bytes, key: str) -> None:
        assert value.startswith(key.encode() + b",")
        self.records.append((topic, value))

    def poll(self, timeout: float) -> int:
        return 0

    def flush(self, timeout: float) -> int:
        return 0


def test_a_count_has_the_value_of_the_only_row_with_one() -> None:
    rows = rows_table([b"p1,0,5,10,abc", b"p1,1,6,10,", b"l1,2,7,10,"])
    assert sorted(expected("count", rows).to_pylist(), key=lambda row: str(row["key"])) == [
        {"key": "l1", "n": 1, "total": 2, "md5": EMPTY},
        {"key": "p1", "n": 2, "total": 1, "md5": VALUE},
    ]


def test_the_last_count_of_a_key_applies() -> None:
    counts = last_counts([b"k,1,0,x", b"k,3,9,y", b"k,3,9,y", b"k,2,4,x"]).to_pylist()
    assert counts == [{"key": "k", "n": 3, "total": 9, "md5": "y"}]


def test_rows_within_the_gap_of_their_row_form_one_session() -> None:
    rows = rows_table(
        [
            b"a,1,0,10,",
            b"a,2,10000,10,",
            b"a,3,20001,10,",
            b"b,4,0,100,abc",
            b"b,5,99000,100,",
            b"end,6,0,10,",
        ]
    )
    result = sorted(
        (row["key"], row["start_ms"], row["n"], row["total"], row["md5"])
        for row in expected("session", rows).to_pylist()
    )
    assert result == [("a", 0, 2, 3, EMPTY), ("a", 20001, 1, 3, EMPTY), ("b", 0, 2, 9, VALUE)]


def test_pairs_have_one_key_and_are_at_most_twenty_seconds_apart() -> None:
    left = rows_table([b"a,1,20000,10,abc", b"b,2,0,10,"])
    right = rows_table([b"a,3,0,10,", b"a,4,40000,10,", b"a,5,40001,10,", b"c,6,0,10,"])
    result = sorted(
        (row["left_seq"], row["right_seq"], row["md5"])
        for row in expected("join", left, right).to_pylist()
    )
    assert result == [(1, 3, VALUE), (1, 4, VALUE)]


def test_a_window_starts_at_a_multiple_of_five_seconds() -> None:
    rows = rows_table([b"a,1,4999,10,abc", b"a,2,5000,10,", b"a,3,9999,10,", b"end,4,0,10,"])
    result = sorted(
        (row["start_ms"], row["n"], row["total"], row["md5"])
        for row in expected("window", rows).to_pylist()
    )
    assert result == [(0, 1, 1, VALUE), (5000, 2, 5, EMPTY)]


def test_every_key_is_expected_once() -> None:
    rows = rows_table([b"a,1,0,10,", b"b,2,0,10,", b"a,3,9,10,", b"end,4,0,10,"])
    assert sorted(row["key"] for row in expected("distinct", rows).to_pylist()) == ["a", "b"]


def test_keys_with_a_common_prefix_count_once_a_second() -> None:
    rows = rows_table(
        [
            b"l1,1,0,10,",
            b"l12,2,999,10,",
            b"l1,3,1000,10,",
            b"l1,4,5000,10,",
            b"p1,5,0,10,",
            b"end,6,0,10,",
        ]
    )
    result = sorted(
        (row["key"], row["start_ms"], row["n"]) for row in expected("several", rows).to_pylist()
    )
    assert result == [("l1", 0, 2), ("l1", 5000, 1), ("p1", 0, 1)]


@pytest.mark.parametrize("query", KEEPING)
def test_the_written_rows_output_the_value_of_every_loaded_key(query: str) -> None:
    kept = FakeProducer()
    rows = Rows(
        Shape(query=query, state_mb=0.02, value_bytes=1000, live_keys=5, touch_every=2), kept, "-x"
    )
    rows.load()
    rows.trickle(50)
    rows.touch()
    rows.close()
    assert rows.written == len(kept.records)
    tables = [
        rows_table(value for at, value in kept.records if at == topic) for topic in rows.topics
    ]
    given = expected(query, *tables).to_pylist()
    loaded = [row for row in given if str(row["key"]).startswith("p")]
    assert len(loaded) == 20
    assert EMPTY not in {row["md5"] for row in loaded}
    assert CLOSING_KEY in {row["key"] for table in tables for row in table.to_pylist()}


def test_an_invalid_shape_is_rejected() -> None:
    with pytest.raises(BadInput, match="'sum' was asked for"):
        Shape(query="sum")
    with pytest.raises(BadInput, match="must not be negative"):
        Shape(rate_per_s=-1)
