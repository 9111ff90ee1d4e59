"""Offsets while topics grow, are deleted or created again, and while the broker is slow, with a
simulated cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.kafka import offsets as module
from rheostat.kafka.offsets import PARTITIONS_KEPT_S, RETRY_S, Offsets, check
from rheostat.signals.lag import lag_rows


@dataclass
class Cluster:
    """Topics with the next offset of each partition, and a clock; it replaces a consumer."""

    topics: dict[str, list[int]] = field(default_factory=dict)
    now: float = 1000.0
    counted: int = 0
    timeouts: list[float] = field(default_factory=list)
    slow_s: float = 0.0
    down: bool = False
    closed: bool = False

    def list_topics(self, topic: str, timeout: float) -> Any:
        self.counted += 1
        self._answer(timeout)
        partitions = dict.fromkeys(range(len(self.topics.get(topic, []))))
        return SimpleNamespace(topics={topic: SimpleNamespace(partitions=partitions)})

    def offsets_for_times(self, partitions: list[TopicPartition], timeout: float) -> list[Any]:
        self._answer(timeout)
        return [self._offset(partition) for partition in partitions]

    def close(self) -> None:
        self.closed = True

    def _answer(self, timeout: float) -> None:
        self.timeouts.append(timeout)
        self.now += self.slow_s
        if self.down or self.slow_s > timeout:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))

    def _offset(self, partition: TopicPartition) -> Any:
        known = self.topics.get(partition.topic, [])
        exists = partition.partition < len(known)
        return SimpleNamespace(
            topic=partition.topic,
            partition=partition.partition,
            offset=known[partition.partition] if exists else -1001,
            error=None if exists else KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART),
        )


@pytest.fixture
def make_offsets(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Cluster, Offsets]]:
    def make(deadline_s: float = 1.0, **topics: list[int]) -> tuple[Cluster, Offsets]:
        cluster = Cluster(topics)
        monkeypatch.setattr(module, "Consumer", lambda _: cluster)
        monkeypatch.setattr(time, "monotonic", lambda: cluster.now)
        return cluster, Offsets({"bootstrap.servers": "h:1"}, deadline_s)

    return make


def test_partitions_are_listed_once_a_minute(make_offsets: Any) -> None:
    cluster, offsets = make_offsets(bids=[3, 4])
    for _ in range(5):
        assert offsets.latest(["bids"]) == {("bids", 0): 3, ("bids", 1): 4}
    assert cluster.counted == 1
    cluster.now += PARTITIONS_KEPT_S + 1
    offsets.latest(["bids"])
    assert cluster.counted == 2


def test_an_added_partition_appears_within_a_minute_from_offset_0(make_offsets: Any) -> None:
    cluster, offsets = make_offsets(bids=[3, 4])
    committed = offsets.latest(["bids"])
    cluster.topics["bids"] = [3, 4, 7]
    assert offsets.latest(["bids"]) == committed
    cluster.now += PARTITIONS_KEPT_S + 1
    latest = offsets.latest(["bids"])
    assert latest == {("bids", 0): 3, ("bids", 1): 4, ("bids", 2): 7}
    assert lag_rows(latest, committed) == 7


def test_a_topic_with_fewer_partitions_is_unknown_once_and_then_relisted(make_offsets: Any) -> None:
    cluster, offsets = make_offsets(bids=[3, 4])
    committed = offsets.latest(["bids"])
    cluster.topics["bids"] = [1]
    assert offsets.latest(["bids"]) is None
    latest = offsets.latest(["bids"])
    assert latest == {("bids", 0): 1}
    assert lag_rows(latest, committed) is None


def test_a_deleted_topic_is_unknown_until_it_is_recreated(make_offsets: Any) -> None:
    cluster, offsets = make_offsets(bids=[3])
    assert offsets.latest(["bids"]) is not None
    del cluster.topics["bids"]
    assert [offsets.latest(["bids"]) for _ in range(3)] == [None] * 3
    cluster.topics["bids"] = [5]
    assert offsets.latest(["bids"]) == {("bids", 0): 5}


def test_one_missing_topic_makes_all_offsets_unknown(make_offsets: Any) -> None:
    _, offsets = make_offsets(bids=[3])
    assert offsets.latest(["bids", "asks"]) is None


def test_a_slow_broker_gets_only_the_remaining_time(make_offsets: Any) -> None:
    cluster, offsets = make_offsets(deadline_s=2.0, bids=[3])
    cluster.slow_s = 0.75
    assert offsets.latest(["bids"]) == {("bids", 0): 3}
    assert cluster.timeouts == [2.0, 1.25]
    cluster.slow_s = 3.0
    assert offsets.latest(["bids"]) is None
    assert all(timeout > 0 for timeout in cluster.timeouts)


def test_the_partition_list_survives_an_outage(make_offsets: Any) -> None:
    cluster, offsets = make_offsets(bids=[3])
    offsets.latest(["bids"])
    cluster.down = True
    assert offsets.latest(["bids"]) is None
    cluster.down, cluster.topics["bids"] = False, [9]
    assert offsets.latest(["bids"]) == {("bids", 0): 9}
    assert cluster.counted == 1


def test_broker_availability_is_known_without_topics(make_offsets: Any) -> None:
    cluster, offsets = make_offsets()
    before = offsets.up
    assert before is None
    assert (offsets.latest([]), offsets.up) == ({}, True)
    cluster.down = True
    assert (offsets.latest([]), offsets.up) == (None, False)


def test_a_broker_without_the_topic_is_available(make_offsets: Any) -> None:
    _, offsets = make_offsets()
    assert (offsets.latest(["bids"]), offsets.up) == (None, True)


def test_an_unreachable_broker_delays_its_caller_only_briefly(make_offsets: Any) -> None:
    cluster, offsets = make_offsets(deadline_s=2.0, bids=[3])
    cluster.down = True
    for _ in range(3):
        offsets.latest(["bids"])
    assert cluster.timeouts == pytest.approx([2.0, 0.1, 0.1])


def test_a_slow_broker_is_used_again_after_an_outage(make_offsets: Any) -> None:
    cluster, offsets = make_offsets(deadline_s=2.0, bids=[3])
    cluster.down = True
    offsets.latest(["bids"])
    cluster.down, cluster.slow_s = False, 0.5
    assert offsets.latest(["bids"]) is None
    cluster.now += RETRY_S
    assert offsets.latest(["bids"]) == {("bids", 0): 3}
    assert offsets.up


def test_closing_the_offsets_closes_the_client(make_offsets: Any) -> None:
    cluster, offsets = make_offsets(bids=[3])
    offsets.close()
    assert cluster.closed


counts = st.lists(st.integers(0, 50), min_size=1, max_size=6)


@settings(max_examples=30)
@given(counts, counts)
def test_a_lag_is_never_negative_and_excludes_removed_partitions(
    latest: list[int], committed: list[int]
) -> None:
    now = {("bids", number): offset for number, offset in enumerate(latest)}
    then = {("bids", number): offset for number, offset in enumerate(committed)}
    lag = lag_rows(now, then)
    if len(committed) > len(latest):
        assert lag is None
    else:
        assert lag is not None
        assert lag >= 0
        assert lag >= sum(latest[len(committed) :])
        assert lag == 0 or any(now[place] > then.get(place, 0) for place in now)


@pytest.mark.parametrize(
    "config",
    [
        {"sasl.passwort": "hunter2"},
        {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "hunter2-is-none"},
        {"sasl.password": "hunter2", "session.timeout.ms": "-1"},
        {"sasl.password": "hunter2", "security.protocol": "TLS"},
        {"ssl.key.password": "hunter2", "ssl.key.location": "/no/such/file", "debug": "nothing"},
    ],
)
def test_settings_rejected_by_the_client_are_reported_without_a_password(
    config: dict[str, str],
) -> None:
    with pytest.raises(BadInput, match="kafka= cannot be used") as refused:
        check({"bootstrap.servers": "h:1", **config})
    secrets = {value for name, value in config.items() if "passw" in name}
    assert not any(secret in str(refused.value) for secret in secrets)
    assert "\n" not in str(refused.value)


def test_valid_settings_are_accepted_without_a_connection() -> None:
    check(
        {
            "bootstrap.servers": "no.such.host.invalid:1",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "me",
            "sasl.password": "hunter2",
        }
    )
