import json
import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Message

from rheostat.errors import BadInput, RheostatError
from rheostat_lab.demo.file_sink import committed_files
from rheostat_lab.demo.verdict import judge, read_sink, verify
from rheostat_lab.nexmark.encoding import encode
from rheostat_lab.nexmark.events import events
from rheostat_lab.nexmark.topic_events import events_of, read_to_end

CREATED_MS = 1_700_000_000_000
COUNT = 200
Q1 = (
    "SELECT id, auction, bidder, (price::DECIMAL(20, 0) * 0.908::DECIMAL(3, 3))::DECIMAL(23, 3) AS"
    " price, date_time, extra FROM topic"
)


@pytest.fixture(scope="module")
def topic() -> pa.Table:
    return events_of(encode(events("bids", 7, 0, COUNT), CREATED_MS))


@pytest.fixture(scope="module")
def right(topic: pa.Table) -> pa.Table:
    return query(Q1, topic)


def query(sql: str, topic: pa.Table) -> pa.Table:
    with duckdb.connect() as connection:
        connection.register("topic", topic)
        return connection.sql(sql).to_arrow_table()


def status(path: Path, action: str = "add") -> str:
    return json.dumps(
        {
            "path": path.as_uri(),
            "size": 1,
            "isDir": False,
            "modificationTime": 1,
            "blockReplication": 1,
            "blockSize": 1,
            "action": action,
        }
    )


def log(sink: Path, name: str, *lines: str) -> None:
    (sink / "_spark_metadata").mkdir(exist_ok=True)
    (sink / "_spark_metadata" / name).write_text("\n".join(["v1", *lines]))


def sink_of(sink: Path, *parts: pa.Table) -> Path:
    for number, part in enumerate(parts):
        path = sink / f"part-{number}.parquet"
        pq.write_table(part, path)
        log(sink, str(number), status(path))
    return sink


def test_a_sink_with_every_bid_exactly_once_is_exact(
    tmp_path: Path, topic: pa.Table, right: pa.Table
) -> None:
    verdict = judge("q1", {"bids": topic}, read_sink(sink_of(tmp_path, right[:150], right[150:])))
    assert (verdict.exact, verdict.rows_in, verdict.rows_out) == (True, COUNT, COUNT)
    assert verdict.detail.startswith("all 200 rows")


def test_a_missing_bid_is_detected(topic: pa.Table, right: pa.Table) -> None:
    verdict = judge("q1", {"bids": topic}, right[1:])
    assert (
        verdict.exact,
        verdict.missing,
        verdict.duplicated,
        verdict.wrong,
        verdict.rows_out,
    ) == (False, 1, 0, 0, COUNT - 1)
    assert "expected id 0" in verdict.detail


def test_a_duplicated_bid_is_detected(topic: pa.Table, right: pa.Table) -> None:
    verdict = judge("q1", {"bids": topic}, pa.concat_tables([right, right[3:4]]))
    assert (
        verdict.exact,
        verdict.missing,
        verdict.duplicated,
        verdict.wrong,
        verdict.rows_out,
    ) == (False, 0, 1, 0, COUNT)
    assert "found id 3" in verdict.detail


@pytest.mark.parametrize(
    "change",
    [
        "price + 1 AS price",
        "date_time + INTERVAL 1 MILLISECOND AS date_time",
        "extra || 'x' AS extra",
        "id + 1000 AS id",
    ],
)
def test_wrong_contents_are_detected(topic: pa.Table, right: pa.Table, change: str) -> None:
    changed = query(
        f"SELECT * REPLACE ({change}) FROM topic WHERE id = 5 UNION ALL SELECT * FROM topic WHERE"
        " id <> 5",
        right,
    )
    verdict = judge("q1", {"bids": topic}, changed)
    assert (verdict.exact, verdict.wrong) == (False, 1)


@pytest.mark.parametrize("seed", [1, 2])
def test_all_kinds_of_errors_are_counted_separately(
    topic: pa.Table, right: pa.Table, seed: int
) -> None:
    draw = random.Random(seed)
    places = draw.sample(range(COUNT), 60)
    lost, doubled, changed, foreign = places[:12], places[12:30], places[30:41], places[41:]
    again = [place for place in doubled for _ in range(draw.randrange(1, 4))]
    price = right.schema.get_field_index("price")
    cheap = pa.array([1] * len(changed)).cast(right.schema.field("price").type)
    other = right.take(changed).set_column(price, "price", cheap)
    unknown = pa.array([COUNT + place for place in foreign])
    strange = right.take(foreign).set_column(0, "id", unknown)
    kept = [place for place in range(COUNT) if place not in {*lost, *changed}]
    draw.shuffle(kept)
    sink = pa.concat_tables([strange, right.take(kept), other, right.take(again)])
    verdict = judge("q1", {"bids": topic}, sink)
    assert (verdict.missing, verdict.duplicated, verdict.wrong) == (
        len(lost),
        len(again),
        len(changed) + len(foreign),
    )
    assert verdict.rows_out == COUNT - len(lost) + len(foreign)
    assert not verdict.exact


def test_an_empty_sink_misses_every_bid(topic: pa.Table) -> None:
    assert judge("q1", {"bids": topic}, None).missing == COUNT


def test_an_uncommitted_file_is_ignored(tmp_path: Path, topic: pa.Table, right: pa.Table) -> None:
    sink = sink_of(tmp_path, right)
    pq.write_table(right[:10], sink / "part-of-a-killed-task.parquet")
    assert judge("q1", {"bids": topic}, read_sink(sink)).exact


def test_a_compact_log_replaces_earlier_ones_and_deleted_files_are_excluded(tmp_path: Path) -> None:
    files = [tmp_path / f"a b {number}.parquet" for number in range(4)]
    for path in files:
        path.touch()
    log(tmp_path, "8", status(files[0]))
    log(tmp_path, "9.compact", status(files[0]), status(files[1]))
    log(tmp_path, "10", status(files[2]), status(files[3]))
    log(tmp_path, "11", status(files[2], "delete"))
    log(tmp_path, ".12.tmp", "never renamed")
    assert committed_files(tmp_path) == [files[0], files[1], files[3]]


def test_a_gap_in_the_log_is_rejected(tmp_path: Path) -> None:
    log(tmp_path, "0")
    log(tmp_path, "2")
    with pytest.raises(RheostatError, match="batch 1 is not"):
        committed_files(tmp_path)


def test_a_logged_file_must_exist(tmp_path: Path) -> None:
    log(tmp_path, "0", status(tmp_path / "lost.parquet"))
    with pytest.raises(RheostatError, match=r"lost\.parquet, which is not there"):
        committed_files(tmp_path)


def test_a_record_that_is_not_a_bid_is_rejected() -> None:
    with pytest.raises(RheostatError, match="not one of bids"):
        events_of(iter([b'{"id":"seven"}']))


class SilentSource:
    """A broker that never reports the end of the last partition."""

    def consume(self, num_messages: int, timeout: float) -> list[Message]:
        return []


def test_an_unresponsive_broker_times_out() -> None:
    with pytest.raises(RheostatError, match="sent nothing for 20 s, and 3 partitions"):
        list(read_to_end(SilentSource(), 3))


def test_a_query_without_an_oracle_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="q1, q2, q3, q5, q8, q11"):
        verify("q7", "127.0.0.1:1", {"bids": "bids"}, tmp_path)


def sessions(rows: list[tuple[int, int, int, int]]) -> pa.Table:
    columns = ("bidder", "bid_count", "start_time", "end_time")
    table = pa.table([pa.array(column) for column in zip(*rows, strict=True)], columns)
    for name in ("start_time", "end_time"):
        table = table.set_column(columns.index(name), name, table[name].cast(pa.timestamp("s")))
    return table


def bids_at(*times: tuple[int, int]) -> pa.Table:
    lines = (
        {
            "id": i,
            "auction": 1,
            "bidder": bidder,
            "price": 1,
            "date_time": second * 1000,
            "extra": "",
        }
        for i, (bidder, second) in enumerate(times)
    )
    return events_of(iter([json.dumps(line).encode() for line in lines]))


def test_only_sessions_closed_by_the_watermark_are_expected() -> None:
    topic = bids_at((1, 0), (1, 10), (2, 15), (3, 30))
    closed = sessions([(1, 2, 0, 20), (2, 1, 15, 25)])
    assert judge("q11", {"bids": topic}, closed).exact
    assert judge("q11", {"bids": topic}, closed[:1]).missing == 1


def test_a_session_with_another_count_is_wrong() -> None:
    verdict = judge("q11", {"bids": bids_at((1, 0), (1, 5), (2, 60))}, sessions([(1, 1, 0, 15)]))
    assert (verdict.exact, verdict.wrong, verdict.missing, verdict.rows_out) == (False, 1, 0, 1)
