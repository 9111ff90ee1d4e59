"""Events as files and as commits of Delta tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rheostat_lab.nexmark.encoding import encode
from rheostat_lab.nexmark.event_topic import open_topic
from rheostat_lab.nexmark.events import events
from rheostat_lab.nexmark.landing import KINDS, LandedEvents, Landing, landing_of
from rheostat_lab.nexmark.load import open_topics
from rheostat_lab.nexmark.topic_events import events_of, read_events

CREATED_MS = 1_763_662_000_123


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("events_kind", ["bids", "auctions"])
def test_written_events_are_read_back_completely(
    tmp_path: Path, kind: str, events_kind: str
) -> None:
    Landing(kind, tmp_path).create("topic", events_kind)
    address = f"{kind}:{tmp_path}"
    target = open_topic(address, "topic", 7, events_kind)
    assert (target.write(0, 30, CREATED_MS), target.write(30, 11, CREATED_MS)) == (30, 11)
    assert target.flush(1.0) == 0
    read = read_events(address, "topic", events_kind)
    written = events_of(encode(events(events_kind, 7, 0, 41), CREATED_MS), events_kind)
    assert read.cast(written.schema).sort_by("id") == written.sort_by("id")


@pytest.mark.parametrize("kind", KINDS)
def test_events_are_published_at_the_end_of_their_interval(tmp_path: Path, kind: str) -> None:
    Landing(kind, tmp_path).create("topic", "bids")
    now = [100.0]
    target = LandedEvents(Landing(kind, tmp_path), "topic", 7, clock=lambda: now[0])
    target.write(0, 8, CREATED_MS)
    assert target.waiting() == 0
    target.write(8, 8, CREATED_MS)
    assert target.waiting() == 8
    now[0] += 1.0
    assert target.waiting() == 0
    assert read_events(f"{kind}:{tmp_path}", "topic").num_rows == 16


def test_a_commit_has_one_file_per_slot_of_the_demo(tmp_path: Path) -> None:
    landing = Landing("delta", tmp_path)
    landing.create("topic", "bids")
    target = LandedEvents(landing, "topic", 7)
    target.write(0, 80, CREATED_MS)
    rows = [pq.ParquetFile(path).metadata.num_rows for path in tmp_path.rglob("part=*/*.parquet")]
    assert rows == [10] * 8


def test_several_sources_share_the_rate(tmp_path: Path) -> None:
    for kind in ("bids", "auctions"):
        Landing("files", tmp_path).create(kind, kind)
    address = f"files:{tmp_path}"
    target = open_topics(address, ["bids=bids", "auctions=auctions"], 7)
    target.write(0, 20, CREATED_MS)
    target.flush(1.0)
    assert [read_events(address, kind, kind).num_rows for kind in ("bids", "auctions")] == [10, 10]


def test_the_address_of_a_broker_is_not_a_landing_folder() -> None:
    assert landing_of("127.0.0.1:9092") is None
    assert landing_of("delta:/data") == Landing("delta", Path("/data"))
