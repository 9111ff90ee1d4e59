"""Bids into a Kafka topic, each exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from confluent_kafka import KafkaException, Producer

from rheostat.errors import BadInput, RheostatError
from rheostat.kafka.client import settings
from rheostat_lab.nexmark.bids import bids, encode

ANSWER_WITHIN_S = 20.0


class Records(Protocol):
    """What is used of a Kafka producer."""

    def produce(
        self, topic: str, value: bytes, key: None, partition: int, *, timestamp: int
    ) -> None:
        """Queue a record; raises BufferError while the queue is full."""
        ...

    def poll(self, timeout: float) -> int:
        """Serve call-backs."""
        ...

    def flush(self, timeout: float) -> int:
        """Wait until the queue is empty; returns the records that are left."""
        ...

    def __len__(self) -> int: ...


class BidTopic:
    """The bids of a seed, bid n in partition n % ``partitions``, with their creation time as the
    record's time.

    ``given_up`` grows by a reason for each bid that the producer has given up; then the next call
    raises RheostatError.
    """

    def __init__(
        self,
        producer: Records,
        topic: str,
        partitions: int,
        seed: int,
        given_up: Sequence[str] = (),
    ) -> None:
        self._producer = producer
        self._topic = topic
        self._partitions = partitions
        self._seed = seed
        self._given_up = given_up

    def write(self, first: int, count: int, created_ms: int) -> int:
        """Queue bids ``first`` to ``first + count - 1`` in their order and return how many the
        queue had room for.
        """
        produce, topic, partitions = self._producer.produce, self._topic, self._partitions
        n = first
        try:
            for line in encode(bids(self._seed, first, count), created_ms):
                produce(topic, line, None, n % partitions, timestamp=created_ms)
                n += 1
        # A full queue is no fault: what was not taken is offered again at the next tick.
        except BufferError:
            pass
        except KafkaException as error:
            raise RheostatError(
                f"topic {topic} takes no more bids: {error.args[0].str()}"
            ) from None
        # Serves the call-backs: without it a bid that was given up would never be heard of.
        self._producer.poll(0)
        self._refuse_losses()
        return n - first

    def waiting(self) -> int:
        """Return the bids that the broker has not acknowledged yet."""
        self._producer.poll(0)
        return len(self._producer)

    def flush(self, within_s: float) -> int:
        """Wait until the broker has all bids, at most ``within_s`` seconds; return how many it has
        not.
        """
        left = self._producer.flush(within_s)
        self._refuse_losses()
        return left

    def _refuse_losses(self) -> None:
        if self._given_up:
            raise RheostatError(
                f"topic {self._topic} has lost {len(self._given_up)} bids: {self._given_up[0]}"
            )


def open_topic(bootstrap: str, topic: str, seed: int) -> BidTopic:
    """Return a topic that is there, ready for bids; raises BadInput if the broker does not answer
    or has no such topic.

    Each bid is appended once, also when the broker is killed and comes back: the producer is
    idempotent and tries for ten minutes.
    """
    given_up: list[str] = []
    quiet = settings({"bootstrap.servers": bootstrap})
    producer = Producer(
        {**quiet, **_SETTINGS, "on_delivery": lambda error, _: given_up.append(error.str())}
    )
    return BidTopic(producer, topic, _partitions(producer, bootstrap, topic), seed, given_up)


_SETTINGS: dict[str, Any] = {
    # Without it a retry after a lost answer would append a bid twice.
    "enable.idempotence": True,
    # Ten minutes: a broker that is started again takes far less, and no bid is lost meanwhile.
    "message.timeout.ms": 600_000,
    "linger.ms": 30,
    "compression.type": "lz4",
    "batch.num.messages": 50_000,
    "queue.buffering.max.messages": 500_000,
    "queue.buffering.max.kbytes": 262_144,
    "delivery.report.only.error": True,
}


def _partitions(producer: Producer, bootstrap: str, topic: str) -> int:
    try:
        topics = producer.list_topics(timeout=ANSWER_WITHIN_S).topics
    except KafkaException:
        raise BadInput(
            f"no Kafka broker answers at {bootstrap} within {ANSWER_WITHIN_S:g} s"
        ) from None
    if topic not in topics:
        raise BadInput(
            f"there is no topic {topic!r} at {bootstrap}; there are:"
            f" {', '.join(sorted(topics)) or 'none'}"
        )
    return len(topics[topic].partitions)
