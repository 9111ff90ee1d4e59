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
"""The seconds for which the number of partitions is cached; topics rarely grow."""

RETRY_S = 15.0
"""While the broker is down, one request per this many seconds may take the full deadline."""

_AWAY_S = 0.1
"""The deadline in seconds of the other requests, which keeps a caller per second responsive."""

_ANY_TOPIC = "__consumer_offsets"
"""The topic for requests that only need an answer; it need not exist, and is not created."""


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
        # A consumer that never subscribes: the client requires a group id, which never reaches the
        # broker.
        self._consumer = Consumer(
            settings({**bootstrap_config, "group.id": "rheostat", "enable.auto.commit": "false"})
        )
        self._deadline_s = deadline_s
        self._partitions: dict[str, tuple[float, int]] = {}
        self._patient_s = -math.inf
        self.up: bool | None = None
        """Whether the cluster answered the last call; None before the first."""

    def latest(self, topics: Iterable[str]) -> dict[tuple[str, int], int] | None:
        """Return the next offset by topic and partition; None at the deadline or without one of the
        topics. Without topics it only updates ``up``. Fails when a topic is recreated, until
        ``PARTITIONS_KEPT_S`` have passed.
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
        # A lag without one of the topics would be too small; an unknown one is better.
        if not all(counts.values()):  # a topic does not exist (yet)
            return None
        if any(answer.error or answer.offset < 0 for answer in answers):
            # The topic may have fewer partitions now: the next call counts them again.
            self._partitions.clear()
            return None
        return {(answer.topic, answer.partition): answer.offset for answer in answers}

    def _deadline(self) -> float:
        """Return the end of a call that starts now (monotonic seconds)."""
        now = time.monotonic()
        # A slow broker must be able to recover, so it occasionally gets the full deadline.
        if self.up is False and now - self._patient_s < RETRY_S:
            return now + min(_AWAY_S, self._deadline_s)
        self._patient_s = now
        return now + self._deadline_s

    def _count(self, topic: str, deadline: float) -> int:
        """Return the number of partitions of a topic, 0 if it does not exist."""
        counted_s, count = self._partitions.get(topic, (0.0, 0))
        if not count or time.monotonic() - counted_s > PARTITIONS_KEPT_S:
            count = len(
                self._consumer.list_topics(topic, timeout=_left(deadline)).topics[topic].partitions
            )
            self._partitions[topic] = (time.monotonic(), count)
        return count

    def close(self) -> None:
        """Close the client and its threads."""
        self._consumer.close()


def _left(deadline: float) -> float:
    # A negative time-out would wait forever.
    return max(deadline - time.monotonic(), 0.001)


def _one_line(message: str) -> str:
    """Return a message of librdkafka in one line; some end with a line break."""
    return " ".join(message.split())
