"""Rows for queries with large state: few large values that are loaded once, then a light steady
load of small rows.

A record is ``key,seq,time_ms,gap_s,payload``; the key is ``pN`` of a loaded row, ``lN`` of a live
one. Only loaded rows have a payload, one per key, of random letters that no codec can compress:
they determine the size of the state.
"""

from __future__ import annotations

import base64
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from confluent_kafka import Consumer, Producer, TopicPartition

from rheostat.errors import BadInput
from rheostat.kafka.client import settings
from rheostat_lab.nexmark.topic_events import read_to_end

LIVE_GAP_S = 10
LOADED_GAP_S = 100 * 86_400
"""Gap of the sessions of loaded keys, and the distance of a join's loaded rows into the future, in
seconds: nothing closes them before the end of a run."""

CLOSING_KEY = "end"
KEEPING = ("count", "session", "join", "transform")
"""Queries whose state contains the loaded values, so that its size can be chosen."""

QUERIES = (*KEEPING, "window", "distinct", "several")
_POOL_BYTES = 8 << 20
_FLUSH_S = 120.0
_ANSWER_WITHIN_S = 20.0
_SETTINGS: dict[str, Any] = {
    "enable.idempotence": True,
    "linger.ms": 20,
    "queue.buffering.max.messages": 500_000,
    "queue.buffering.max.kbytes": 1 << 20,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The state and the load of a run; one in ``touch_every`` rows of the light load goes to a
    loaded key (0: none).
    """

    query: str = field(default="count", metadata={"help": "one of QUERIES"})
    state_mb: float = field(
        default=256.0, metadata={"help": "MB of values that are loaded into the state"}
    )
    value_bytes: int = field(default=4096, metadata={"help": "bytes of a value"})
    rate_per_s: int = field(default=400, metadata={"help": "rows per second of the light load"})
    live_keys: int = field(default=20_000, metadata={"help": "keys of the light load"})
    touch_every: int = field(default=50, metadata={"help": "every N-th row goes to a loaded key"})
    seed: int = field(default=7, metadata={"help": "seed of keys and values"})

    def __post_init__(self) -> None:
        if self.query not in QUERIES:
            raise BadInput(f"the query is {', '.join(QUERIES)}, but {self.query!r} was asked for")
        if self.value_bytes < 1 or self.state_mb < 0 or self.rate_per_s < 0 or self.live_keys < 1:
            raise BadInput(
                "sizes and rates of the rows must not be negative, and there must be a byte of"
                " value and a live key"
            )

    @property
    def loaded_keys(self) -> int:
        """The number of keys that are loaded once."""
        return int(self.state_mb * 1_000_000 // self.value_bytes)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics of the query: two sides for a join."""
        return ("left", "right") if self.query == "join" else ("rows",)


class Records(Protocol):
    """The part of a Kafka producer that is used."""

    def produce(self, topic: str, value: bytes, key: str) -> None:
        """Queue a record; raises BufferError while the queue is full."""

    def poll(self, timeout: float) -> int:
        """Serve callbacks."""

    def flush(self, timeout: float) -> int:
        """Wait until the queue is empty; return the number of remaining records."""


class Rows:
    """Writes the rows of a shape; ``suffix`` separates the topics of several runs on one broker.

    ``written`` counts the rows.
    """

    def __init__(self, shape: Shape, producer: Records, suffix: str = "") -> None:
        self.shape = shape
        self.topics = tuple(topic + suffix for topic in shape.topics)
        self.written = 0
        self._far_ms = int((time.time() + LOADED_GAP_S) * 1000)
        self._producer = producer
        self._random = random.Random(shape.seed)  # noqa: S311 - data of a benchmark
        self._pool = base64.b64encode(self._random.randbytes(_POOL_BYTES * 3 // 4))

    def load(self) -> None:
        """Write every loaded key with its value."""
        for n in range(self.shape.loaded_keys):
            start = self._random.randrange(len(self._pool) - self.shape.value_bytes)
            self._write(
                self.topics[0],
                f"p{n}",
                LOADED_GAP_S,
                self._pool[start : start + self.shape.value_bytes],
                self._loaded_ms,
            )
        self.flush()

    def trickle(self, count: int) -> None:
        """Write ``count`` rows of the light load (for a join on each side)."""
        shape, touched = self.shape, self.shape.loaded_keys and self.shape.touch_every
        for _ in range(count):
            if touched and len(self.topics) == 1 and self._random.randrange(shape.touch_every) == 0:
                self._write(
                    self.topics[0], f"p{self._random.randrange(shape.loaded_keys)}", LOADED_GAP_S
                )
                continue
            for topic in self.topics:
                self._write(topic, f"l{self._random.randrange(shape.live_keys)}", LIVE_GAP_S)
        self._producer.poll(0)

    def touch(self) -> None:
        """Write one small row to every loaded key, so that the query's output shows whether its
        state is complete.
        """
        for n in range(self.shape.loaded_keys):
            self._write(self.topics[-1], f"p{n}", LOADED_GAP_S, b"", self._loaded_ms)
        self.flush()

    def close(self) -> None:
        """Write a row from the far future, whose watermark closes everything else."""
        for topic in self.topics:
            self._write(topic, CLOSING_KEY, LIVE_GAP_S, b"", self._far_ms + 2 * LOADED_GAP_S * 1000)
        self.flush()

    @property
    def _loaded_ms(self) -> int | None:
        """The time of rows of loaded keys: far ahead for a join, whose state is dropped when the
        watermark has passed it; None (now) otherwise.
        """
        return self._far_ms if self.shape.query == "join" else None

    def flush(self) -> None:
        """Wait until the broker has all rows."""
        left = self._producer.flush(_FLUSH_S)
        if left:
            raise BadInput(f"{left} rows did not reach the broker within {_FLUSH_S:.0f} s")

    def _write(
        self, topic: str, key: str, gap_s: int, payload: bytes = b"", t_ms: int | None = None
    ) -> None:
        t_ms = int(time.time() * 1000) if t_ms is None else t_ms
        value = b"%b,%d,%d,%d,%b" % (key.encode(), self.written, t_ms, gap_s, payload)
        while True:
            try:
                self._producer.produce(topic, value, key)
                break
            except BufferError:
                self._producer.poll(0.1)
        self.written += 1


def open_rows(shape: Shape, bootstrap: str, suffix: str = "") -> Rows:
    """Return rows that are written to a broker."""
    return Rows(shape, Producer(settings({"bootstrap.servers": bootstrap}) | _SETTINGS), suffix)


class Feed:
    """The light load in a thread, at the shape's rate from ``start`` to ``stop``; rows that are due
    during a pause do not accumulate.
    """

    TICK_S = 0.1

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether it is writing."""
        return self._thread is not None

    def start(self) -> Feed:
        """Start writing."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop writing and wait until the broker has everything."""
        self._stop.set()
        if self._thread:
            self._thread.join()
            self._thread = None
        self._rows.flush()

    def _run(self) -> None:
        due = 0.0
        while not self._stop.wait(self.TICK_S):
            due += self._rows.shape.rate_per_s * self.TICK_S
            self._rows.trickle(int(due))
            due -= int(due)


def read_values(bootstrap: str, topic: str) -> Iterator[bytes]:
    """Yield the value of every record of a topic, each partition from its begin to its end."""
    config = {
        "bootstrap.servers": bootstrap,
        "group.id": "rheostat-rows",
        "enable.auto.commit": "false",
        "enable.partition.eof": "true",
    }
    consumer = Consumer(settings({**config, "queued.max.messages.kbytes": "65536"}))
    try:
        partitions = consumer.list_topics(topic, timeout=_ANSWER_WITHIN_S).topics[topic].partitions
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        yield from read_to_end(consumer, len(partitions))
    finally:
        consumer.close()
