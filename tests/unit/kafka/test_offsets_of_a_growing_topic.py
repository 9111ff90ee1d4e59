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
        found = dict.fromkeys(range(len(self.topics.get(topic, []))))
        return SimpleNamespace(topics={topic: SimpleNamespace(partitions=found)})

    def offsets_for_times(self, asked: list[TopicPartition], timeout: float) -> list[Any]:
        self._answer(timeout)
        return [self._offset(each) for each in asked]

    def close(self) -> None:
        self.closed = True

    def _answer(self, timeout: float) -> None:
        self.timeouts.append(timeout)
        self.now += self.slow_s
        if self.down or self.slow_s > timeout:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))

    def _offset(self, asked: TopicPartition) -> Any:
        known = self.topics.get(asked.topic, [])
        there = asked.partition < len(known)
        return SimpleNamespace(
            topic=asked.topic,
            partition=asked.partition,
            offset=known[asked.partition] if there else -1001,
            error=None if there else KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART),
        )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Cluster, Offsets]]:
    def make(deadline_s: float = 1.0, **topics: list[int]) -> tuple[Cluster, Offsets]:
        cluster = Cluster(topics)
        monkeypatch.setattr(module, "Consumer", lambda _: cluster)
        monkeypatch.setattr(time, "monotonic", lambda: cluster.now)
        return cluster, Offsets({"bootstrap.servers": "h:1"}, deadline_s)

    return make


def test_partitions_are_counted_once_a_minute(asked: Any) -> None:
    cluster, offsets = asked(bids=[3, 4])
    for _ in range(5):
        assert offsets.latest(["bids"]) == {("bids", 0): 3, ("bids", 1): 4}
    assert cluster.counted == 1
    cluster.now += PARTITIONS_KEPT_S + 1
    offsets.latest(["bids"])
    assert cluster.counted == 2


def test_a_partition_that_was_added_is_seen_within_a_minute_and_counts_from_0(asked: Any) -> None:
    cluster, offsets = asked(bids=[3, 4])
    committed = offsets.latest(["bids"])
    cluster.topics["bids"] = [3, 4, 7]
    assert offsets.latest(["bids"]) == committed
    cluster.now += PARTITIONS_KEPT_S + 1
    latest = offsets.latest(["bids"])
    assert latest == {("bids", 0): 3, ("bids", 1): 4, ("bids", 2): 7}
    assert lag_rows(latest, committed) == 7


def test_a_topic_with_fewer_partitions_is_unknown_once_and_then_counted_anew(asked: Any) -> None:
    cluster, offsets = asked(bids=[3, 4])
    committed = offsets.latest(["bids"])
    cluster.topics["bids"] = [1]
    assert offsets.latest(["bids"]) is None
    latest = offsets.latest(["bids"])
    assert latest == {("bids", 0): 1}
    assert lag_rows(latest, committed) is None


def test_a_topic_that_is_deleted_is_unknown_until_it_is_there_again(asked: Any) -> None:
    cluster, offsets = asked(bids=[3])
    assert offsets.latest(["bids"]) is not None
    del cluster.topics["bids"]
    assert [offsets.latest(["bids"]) for _ in range(3)] == [None] * 3
    cluster.topics["bids"] = [5]
    assert offsets.latest(["bids"]) == {("bids", 0): 5}


def test_one_topic_that_is_not_there_makes_all_unknown(asked: Any) -> None:
    _, offsets = asked(bids=[3])
    assert offsets.latest(["bids", "asks"]) is None


def test_a_slow_broker_gets_only_what_is_left_of_the_time(asked: Any) -> None:
    cluster, offsets = asked(deadline_s=2.0, bids=[3])
    cluster.slow_s = 0.75
    assert offsets.latest(["bids"]) == {("bids", 0): 3}
    assert cluster.timeouts == [2.0, 1.25]
    cluster.slow_s = 3.0
    assert offsets.latest(["bids"]) is None
    assert all(timeout > 0 for timeout in cluster.timeouts)


def test_what_was_counted_outlives_an_outage(asked: Any) -> None:
    cluster, offsets = asked(bids=[3])
    offsets.latest(["bids"])
    cluster.down = True
    assert offsets.latest(["bids"]) is None
    cluster.down, cluster.topics["bids"] = False, [9]
    assert offsets.latest(["bids"]) == {("bids", 0): 9}
    assert cluster.counted == 1


def test_whether_the_broker_answers_is_known_also_without_topics(asked: Any) -> None:
    cluster, offsets = asked()
    before = offsets.up
    assert before is None
    assert (offsets.latest([]), offsets.up) == ({}, True)
    cluster.down = True
    assert (offsets.latest([]), offsets.up) == (None, False)


def test_a_broker_without_the_topic_is_up(asked: Any) -> None:
    _, offsets = asked()
    assert (offsets.latest(["bids"]), offsets.up) == (None, True)


def test_a_broker_that_is_away_holds_up_its_caller_briefly(asked: Any) -> None:
    cluster, offsets = asked(deadline_s=2.0, bids=[3])
    cluster.down = True
    for _ in range(3):
        offsets.latest(["bids"])
    assert cluster.timeouts == pytest.approx([2.0, 0.1, 0.1])


def test_a_slow_broker_that_was_away_comes_back(asked: Any) -> None:
    cluster, offsets = asked(deadline_s=2.0, bids=[3])
    cluster.down = True
    offsets.latest(["bids"])
    cluster.down, cluster.slow_s = False, 0.5
    assert offsets.latest(["bids"]) is None
    cluster.now += RETRY_S
    assert offsets.latest(["bids"]) == {("bids", 0): 3}
    assert offsets.up


def test_the_client_ends_with_its_owner(asked: Any) -> None:
    cluster, offsets = asked(bids=[3])
    offsets.close()
    assert cluster.closed


counts = st.lists(st.integers(0, 50), min_size=1, max_size=6)


@settings(max_examples=30)
@given(counts, counts)
def test_a_lag_is_never_negative_and_never_of_partitions_that_have_gone(
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
def test_settings_that_the_client_refuses_are_said_without_a_password(
    config: dict[str, str],
) -> None:
    with pytest.raises(BadInput, match="kafka= cannot be used") as refused:
        check({"bootstrap.servers": "h:1", **config})
    secrets = {value for name, value in config.items() if "passw" in name}
    assert not any(secret in str(refused.value) for secret in secrets)
    assert "\n" not in str(refused.value)


def test_settings_that_it_knows_are_taken_and_nobody_is_asked() -> None:
    check(
        {
            "bootstrap.servers": "no.such.host.invalid:1",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "me",
            "sasl.password": "hunter2",
        }
    )
