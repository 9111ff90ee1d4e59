"""Reads all events of a topic of Kafka or of a landing as an Arrow table."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from typing import Protocol

import pyarrow as pa
import pyarrow.json
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from rheostat.errors import RheostatError
from rheostat.kafka.client import settings
from rheostat_lab.nexmark.encoding import TIME, TIMES, columns
from rheostat_lab.nexmark.landing import landing_of

ANSWER_WITHIN_S = 20.0
_CHUNK = 50_000
_POLL_S = 0.25
_LEFT_OUT = {"channel", "url", "item_name", "description", "email", "credit_card"}
"""Columns that no query reads; without them, a million bids take 500 MB less."""


_TYPES = {"BIGINT": pa.int64(), "STRING": pa.string()}


class Source(Protocol):
    """The used part of a Kafka consumer, which reads partitions from 0 and reports their ends."""

    def consume(self, num_messages: int, timeout: float) -> list[Message]:
        """Return messages, and an error message with ``_PARTITION_EOF`` at each partition's end."""


def read_events(bootstrap: str, topic: str, kind: str = "bids") -> pa.Table:
    """Return all events of a topic as a table of the columns that queries read, with times as
    timestamps (UTC).

    Reads each partition of a Kafka topic from offset 0 to its end; call it when nothing is written
    any more. Raises RheostatError if the broker does not respond, the topic has lost its beginning,
    or a record is not such an event.
    """
    if landing := landing_of(bootstrap):
        if landing.kind == "files":
            return events_of(iter(landing.lines(topic)), kind)
        return landing.table(topic).select(_schema(kind, TIME).names)
    config = {
        "bootstrap.servers": bootstrap,
        "group.id": "rheostat-verdict",
        "enable.auto.commit": "false",
        "enable.partition.eof": "true",
    }
    # Small queues, because the table already holds all records once.
    consumer = Consumer(
        settings({**config, "queued.max.messages.kbytes": "16384", "check.crcs": "true"})
    )
    try:
        partitions = _partitions(consumer, topic)
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        return events_of(read_to_end(consumer, len(partitions)), kind)
    except KafkaException as error:
        raise RheostatError(f"topic {topic} cannot be read: {error.args[0].str()}") from None
    finally:
        consumer.close()


def read_to_end(source: Source, partitions: int) -> Iterator[bytes]:
    """Yield the values of all records until all of ``partitions`` partitions have ended."""
    ended: set[int | None] = set()
    silent = 0
    while len(ended) < partitions:
        # A consumer waits for its timeout unless it has all requested messages, so the timeout is
        # short.
        messages = source.consume(_CHUNK // 5, _POLL_S)
        silent = 0 if messages else silent + 1
        if silent * _POLL_S > ANSWER_WITHIN_S:
            raise RheostatError(
                f"the broker sent nothing for {ANSWER_WITHIN_S:.0f} s, and"
                f" {partitions - len(ended)} partitions have not ended"
            )
        for message in messages:
            error = message.error()
            if error is None:
                # Records after an end: another process still writes, so the partition has not
                # ended.
                ended.discard(message.partition())
                yield message.value() or b""
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
                ended.add(message.partition())
            else:
                raise KafkaException(error)


def events_of(values: Iterator[bytes], kind: str = "bids") -> pa.Table:
    """Return the events of records, each one JSON object on one line; other fields are ignored."""
    parsed = [_parse(chunk, kind) for chunk in iter(lambda: list(islice(values, _CHUNK)), [])]
    return pa.concat_tables(parsed or [_parse([], kind)])


def _schema(kind: str, time: pa.DataType) -> pa.Schema:
    types = {name: time if name in TIMES else _TYPES[of] for name, of in columns(kind).items()}
    return pa.schema([(name, t) for name, t in types.items() if name not in _LEFT_OUT])


def _parse(values: list[bytes], kind: str) -> pa.Table:
    schema = _schema(kind, pa.int64())
    if values:
        options = pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        try:
            table = pa.json.read_json(io.BytesIO(b"\n".join(values)), parse_options=options)
        except pa.ArrowInvalid as error:
            raise RheostatError(
                f"the topic holds a record that is not one of {kind}: {error}"
            ) from None
    else:
        table = schema.empty_table()
    # An empty record is an empty line, which the reader skips without an error.
    if table.num_rows != len(values):
        raise RheostatError(f"of {len(values)} records of the topic {table.num_rows} are {kind}")
    return table.cast(_schema(kind, TIME))


def _partitions(consumer: Consumer, topic: str) -> list[int]:
    described = consumer.list_topics(topic, timeout=ANSWER_WITHIN_S).topics[topic]
    if described.error is not None:
        raise KafkaException(described.error)
    for partition in described.partitions:
        low, _ = consumer.get_watermark_offsets(
            TopicPartition(topic, partition), timeout=ANSWER_WITHIN_S
        )
        # After retention has deleted records, the query would appear to have invented rows.
        if low > 0:
            raise RheostatError(
                f"topic {topic} has lost its first {low} records of partition {partition}"
            )
    return sorted(described.partitions)
