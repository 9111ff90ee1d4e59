"""Writes events to Kafka topics, each exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from confluent_kafka import KafkaException, Producer

from rheostat.errors import BadInput, RheostatError
from rheostat.kafka.client import settings
from rheostat_lab.nexmark.encoding import encode
from rheostat_lab.nexmark.events import events
from rheostat_lab.nexmark.landing import LandedEvents, landing_of

ANSWER_WITHIN_S = 20.0


class Records(Protocol):
    """The part of a Kafka producer that is used."""

    def produce(
        self, topic: str, value: bytes, key: None, partition: int, *, timestamp: int
    ) -> None:
        """Queue a record; raises BufferError while the queue is full."""

    def poll(self, timeout: float) -> int:
        """Serve callbacks."""

    def flush(self, timeout: float) -> int:
        """Wait until the queue is empty; return the number of remaining records."""

    def __len__(self) -> int: ...


class EventTopic:
    """The events of a kind and a seed: event n goes to partition n % ``partitions``, with its
    creation time as the record's time.

    ``lost`` gets a reason for each event that the producer has given up; the next call then raises
    RheostatError.
    """

    def __init__(
        self,
        producer: Records,
        topic: str,
        partitions: int,
        seed: int,
        kind: str = "bids",
        lost: Sequence[str] = (),
    ) -> None:
        self._producer = producer
        self._topic = topic
        self._partitions = partitions
        self._seed = seed
        self._kind = kind
        self._lost = lost

    def write(self, first: int, count: int, created_ms: int) -> int:
        """Queue events ``first`` to ``first + count - 1``; return how many fitted."""
        produce, topic, partitions = self._producer.produce, self._topic, self._partitions
        n = first
        try:
            for line in encode(events(self._kind, self._seed, first, count), created_ms):
                produce(topic, line, None, n % partitions, timestamp=created_ms)
                n += 1
        # A full queue is not an error: the remaining events are offered again at the next tick.
        except BufferError:
            pass
        except KafkaException as error:
            raise RheostatError(
                f"topic {topic} accepts no more {self._kind}: {error.args[0].str()}"
            ) from None
        # Serves the callbacks, without which the loss of an event would remain unknown.
        self._producer.poll(0)
        self._refuse_losses()
        return n - first

    def waiting(self) -> int:
        """Return the number of events that the broker has not acknowledged."""
        self._producer.poll(0)
        return len(self._producer)

    def flush(self, within_s: float) -> int:
        """Wait until the broker has all events, at most ``within_s`` seconds; return the number of
        missing ones.
        """
        left = self._producer.flush(within_s)
        self._refuse_losses()
        return left

    def _refuse_losses(self) -> None:
        if self._lost:
            raise RheostatError(
                f"topic {self._topic} has lost {len(self._lost)} {self._kind}: {self._lost[0]}"
            )


class SourceTopics:
    """Several sources as one: row n is event n // k of source n % k, so that each of k sources has
    an equal share of the rate.
    """

    def __init__(self, topics: Sequence[EventTopic | LandedEvents]) -> None:
        self._topics = topics
        self.resume(0)

    def resume(self, rows: int) -> None:
        """Continue after ``rows`` rows that were written before."""
        sources = len(self._topics)
        self._written = [(rows + sources - 1 - i) // sources for i in range(sources)]

    def write(self, first: int, count: int, created_ms: int) -> int:
        """Queue rows ``first`` to ``first + count - 1``; return how many fitted into the queues."""
        before, sources = sum(self._written), len(self._topics)
        for i, topic in enumerate(self._topics):
            # From its own count, so that a source whose queue was full catches up at the next call.
            due = (first + count + sources - 1 - i) // sources - self._written[i]
            self._written[i] += topic.write(self._written[i], due, created_ms) if due > 0 else 0
        return sum(self._written) - before

    def waiting(self) -> int:
        """Return the number of rows that the broker has not acknowledged."""
        return sum(topic.waiting() for topic in self._topics)

    def flush(self, within_s: float) -> int:
        """Wait until the broker has all rows, at most ``within_s`` seconds per source; return the
        number of missing ones.
        """
        return sum(topic.flush(within_s) for topic in self._topics)


def open_topic(
    bootstrap: str, topic: str, seed: int, kind: str = "bids"
) -> EventTopic | LandedEvents:
    """Return an existing topic of a broker or of a landing, ready for events; raises BadInput if
    the broker does not respond or has no such topic.

    Each event is appended once, even if the broker is killed and restarts, because the producer is
    idempotent and retries for ten minutes.
    """
    if landing := landing_of(bootstrap):
        return LandedEvents(landing, topic, seed, kind)
    lost: list[str] = []
    quiet = settings({"bootstrap.servers": bootstrap})
    producer = Producer(
        {**quiet, **_SETTINGS, "on_delivery": lambda error, _: lost.append(error.str())}
    )
    partitions = _partitions(producer, bootstrap, topic)
    return EventTopic(producer, topic, partitions, seed, kind, lost)


_SETTINGS: dict[str, Any] = {
    # Without it, a retry after a lost response would append an event twice.
    "enable.idempotence": True,
    # Ten minutes: a broker restart takes far less, and no event is lost meanwhile.
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
