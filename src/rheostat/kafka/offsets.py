"""The newest offsets of topics, read from the broker between two progress events."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import OFFSET_END, Consumer, KafkaException, TopicPartition

from rheostat.errors import BadInput
from rheostat.kafka.client import settings

PARTITIONS_KEPT_S = 60.0
"""How long the number of partitions is cached; topics rarely grow."""

RETRY_S = 15.0
"""While the broker is away only one request in this time may take the whole deadline."""

_AWAY_S = 0.1
"""Deadline of the other requests, so that a caller per second does not wait all the time."""

_ANY_TOPIC = "__consumer_offsets"
"""Requested where only an answer matters; it need not exist, and a consumer creates none."""


def check(config: Mapping[str, Any]) -> None:
    """Raise BadInput for unusable client settings; no broker is contacted."""
    try:
        # Without an address the client opens no connection.
        alone = {name: value for name, value in config.items() if name != "bootstrap.servers"}
        Consumer(settings({**alone, "group.id": "rheostat"})).close()
    except KafkaException as error:
        raise BadInput(f"kafka= cannot be used: {_one_line(error.args[0].str())}") from None
    except (TypeError, ValueError) as error:
        raise BadInput(f"kafka= cannot be used: {_one_line(str(error))}") from None


class Offsets:
    """Reads the newest offsets of topics from a Kafka cluster, cheaply enough for every second.

    ``bootstrap_config`` are librdkafka settings, ``deadline_s`` limits one call. With 16 partitions
    a call costs 0.4 ms of CPU. Not thread-safe.
    """

    def __init__(self, bootstrap_config: Mapping[str, Any], deadline_s: float = 1.0) -> None:
        # A consumer that never subscribes: the client demands a group's name, the broker never
        # hears of it.
        self._consumer = Consumer(
            settings({**bootstrap_config, "group.id": "rheostat", "enable.auto.commit": "false"})
        )
        self._deadline_s = deadline_s
        self._partitions: dict[str, tuple[float, int]] = {}
        self._patient_s = -math.inf
        self.up: bool | None = None
        """Whether the cluster answered the last call; None before the first."""

    def latest(self, topics: Iterable[str]) -> dict[tuple[str, int], int] | None:
        """Return the next offset by topic and partition; None at the deadline. Without topics it
        only updates ``up``. Fails when: a topic is recreated (noticed within
        ``PARTITIONS_KEPT_S``).
        """
        deadline = self._deadline()
        try:
            counts = {topic: self._count(topic, deadline) for topic in topics}
            partitions = [
                TopicPartition(topic, number, OFFSET_END)
                for topic, count in counts.items()
                for number in range(count)
            ]
            answers = (
                self._consumer.offsets_for_times(partitions, timeout=_left(deadline))
                if partitions
                else []
            )
            if not counts:
                self._consumer.list_topics(_ANY_TOPIC, timeout=_left(deadline))
        except KafkaException:
            self.up = False
            return None
        self.up = True
        # A lag without one of the topics would be too small, and none is better.
        if not all(counts.values()):  # no such topic (yet)
            return None
        if any(answer.error or answer.offset < 0 for answer in answers):
            # The topic may have fewer partitions now: the next call counts them again.
            self._partitions.clear()
            return None
        return {(answer.topic, answer.partition): answer.offset for answer in answers}

    def _deadline(self) -> float:
        """Return when to give up a call that begins now."""
        now = time.monotonic()
        # A broker that answers slowly must be able to come back, so now and then it gets its time.
        if self.up is False and now - self._patient_s < RETRY_S:
            return now + min(_AWAY_S, self._deadline_s)
        self._patient_s = now
        return now + self._deadline_s

    def _count(self, topic: str, deadline: float) -> int:
        """Return the number of partitions of a topic, 0 if there is none of that name."""
        counted_s, count = self._partitions.get(topic, (0.0, 0))
        if not count or time.monotonic() - counted_s > PARTITIONS_KEPT_S:
            count = len(
                self._consumer.list_topics(topic, timeout=_left(deadline)).topics[topic].partitions
            )
            self._partitions[topic] = (time.monotonic(), count)
        return count

    def close(self) -> None:
        """End the client's threads."""
        self._consumer.close()


def _left(deadline: float) -> float:
    # A negative time-out would wait forever.
    return max(deadline - time.monotonic(), 0.001)


def _one_line(message: str) -> str:
    """Return a message of librdkafka in one line; some end with a line break."""
    return " ".join(message.split())
