from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from rheostat.kafka.client import settings
from rheostat.kafka.offsets import Offsets


class Cluster:
    """A cluster inside a producer: it speaks Kafka's protocol over TCP and creates a topic of four
    partitions on request."""

    def __init__(self) -> None:
        self.producer = Producer({"test.mock.num.brokers": 1, **settings({})})
        broker = next(iter(self.producer.list_topics(timeout=10).brokers.values()))
        self.bootstrap = f"{broker.host}:{broker.port}"

    def append(self, topic: str, partition: int, rows: int) -> None:
        for _ in range(rows):
            self.producer.produce(topic, b"row", partition=partition)
        assert self.producer.flush(10) == 0


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def offsets(cluster: Cluster) -> Iterator[Offsets]:
    offsets = Offsets({"bootstrap.servers": cluster.bootstrap}, deadline_s=10)
    yield offsets
    offsets.close()


def test_every_partition_of_every_topic_has_its_offset(cluster: Cluster, offsets: Offsets) -> None:
    cluster.append("bids", 0, 3)
    cluster.append("bids", 3, 5)
    cluster.append("asks", 1, 2)
    assert offsets.latest(["bids"]) == {
        ("bids", 0): 3,
        ("bids", 1): 0,
        ("bids", 2): 0,
        ("bids", 3): 5,
    }
    both = offsets.latest(["bids", "asks"])
    assert both is not None
    assert (len(both), both["bids", 3], both["asks", 1]) == (8, 5, 2)


def test_new_rows_appear_in_the_next_call(cluster: Cluster, offsets: Offsets) -> None:
    for rows in (1, 2, 3):
        cluster.append("bids", 0, 1)
        latest = offsets.latest(["bids"])
        assert latest is not None
        assert latest["bids", 0] == rows


def test_no_topics_have_no_offsets(offsets: Offsets) -> None:
    assert offsets.latest([]) == {}


def test_an_unreachable_broker_returns_none_silently(
    capfd: pytest.CaptureFixture[str],
) -> None:
    cluster = Cluster()
    cluster.append("bids", 0, 1)
    offsets = Offsets({"bootstrap.servers": cluster.bootstrap}, deadline_s=0.3)
    assert offsets.latest(["bids"]) is not None
    del cluster
    assert offsets.latest(["bids"]) is None
    assert offsets.latest(["bids"]) is None
    assert offsets.up is False
    offsets.close()
    assert capfd.readouterr() == ("", "")


def test_a_broker_that_never_existed_returns_none() -> None:
    offsets = Offsets({"bootstrap.servers": "127.0.0.1:1"}, deadline_s=0.1)
    assert offsets.latest(["bids"]) is None
    offsets.close()
