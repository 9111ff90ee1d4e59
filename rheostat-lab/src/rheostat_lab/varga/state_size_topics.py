"""The topics of the state-size job: records with random values in, elapsed times out."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from rheostat.errors import RheostatError
from rheostat.kafka.client import settings

PARTITIONS = 2
RATE = 50
"""Records per second of a steady feed."""

_ANSWER_S = 60.0
_STEP_S = 0.1
_SPREAD = 7919
"""A prime, so that successive records of a feed have keys that are far apart."""


@dataclass(slots=True)
class WrittenBatch:
    """A batch according to its output records: when the last one was appended (Unix seconds), their
    number, and their longest elapsed time.
    """

    end_s: float
    records: int = 0
    longest_s: float = 0.0


@dataclass(slots=True)
class Output:
    """The batches of an output topic so far, by their names."""

    batches: dict[str, WrittenBatch] = field(default_factory=dict)

    def add(self, text: str, appended_s: float) -> None:
        """Add an output record."""
        record = json.loads(text)
        batch = self.batches.setdefault(record["batch"], WrittenBatch(appended_s))
        batch.end_s = max(batch.end_s, appended_s)
        batch.records += 1
        batch.longest_s = max(batch.longest_s, float(record["elapsed_s"]))

    def ends_s(self) -> list[float]:
        """Return when each batch was written, in order."""
        return sorted(batch.end_s for batch in self.batches.values())

    def longest_s(self, since_s: float) -> float | None:
        """Return the longest elapsed time of batches written after a moment, if any."""
        later = [batch.longest_s for batch in self.batches.values() if batch.end_s > since_s]
        return max(later, default=None)


class Topics:
    """The new topics of one job; raises RheostatError if the broker rejects a record."""

    def __init__(self, bootstrap: str, name: str, value_bytes: int) -> None:
        self.bootstrap, self.read, self.written = bootstrap, f"{name}-in", f"{name}-out"
        self._value_bytes = value_bytes
        client = AdminClient(settings({"bootstrap.servers": bootstrap}))
        # One clock, the broker's, times the output.
        timed = {"message.timestamp.type": "LogAppendTime"}
        topics = [
            NewTopic(self.read, PARTITIONS, 1),
            NewTopic(self.written, PARTITIONS, 1, config=timed),
        ]
        for made in client.create_topics(topics).values():
            made.result(_ANSWER_S)
        self._producer = Producer(
            settings({"bootstrap.servers": bootstrap, "linger.ms": 20, "enable.idempotence": True})
        )

    def write(self, keys: Iterable[int]) -> None:
        """Append a record with a new random value for each key, and wait until all are stored."""
        for key in keys:
            self._append(key)
        if self._producer.flush(_ANSWER_S):
            raise RheostatError(f"the topic {self.read} did not take all records in {_ANSWER_S} s")

    @contextmanager
    def fed(self, keys: int) -> Iterator[None]:
        """Append ``RATE`` records per second within the context, to keys below ``keys``."""
        enough = threading.Event()
        feeder = threading.Thread(target=self._feed, args=(keys, enough), daemon=True)
        feeder.start()
        try:
            yield
        finally:
            enough.set()
            feeder.join()

    def _feed(self, keys: int, enough: threading.Event) -> None:
        first, a_step = 0, round(RATE * _STEP_S)
        while not enough.wait(_STEP_S):
            for number in range(first, first + a_step):
                self._append(number * _SPREAD % keys)
            first += a_step
            self._producer.poll(0)

    def _append(self, key: int) -> None:
        name, value = str(key).encode(), os.urandom(self._value_bytes)
        while True:
            try:
                self._producer.produce(self.read, value, name, key % PARTITIONS)
                return
            except BufferError:  # its queue is full
                self._producer.poll(_STEP_S)


class OutputReader:
    """Reads an output topic continuously from its beginning."""

    def __init__(self, topics: Topics) -> None:
        self.output = Output()
        self._consumer = Consumer(
            settings({"bootstrap.servers": topics.bootstrap, "group.id": "rheostat-lab"})
        )
        self._consumer.assign([TopicPartition(topics.written, p, 0) for p in range(PARTITIONS)])

    def follow(self) -> Output:
        """Read all available records and return the output so far."""
        while records := self._consumer.consume(5000, _STEP_S):
            for record in records:
                if record.error() is None:
                    self.output.add(record.value().decode(), record.timestamp()[1] / 1000)
        return self.output

    def close(self) -> None:
        """Close the connection."""
        self._consumer.close()
