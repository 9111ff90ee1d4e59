"""Pushed records, whose ids distinguish retries from new ones, and their way to the broker; runs on
executors without PySpark.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rheostat.errors import BadInput

MOST_ID_BYTES = 256
_CLOSE_S = 30.0
_SHAPE = '{"id": "...", "value": "..."}'


@dataclass(frozen=True, slots=True)
class PushedRecord:
    """A record; ``id`` is unique among all senders, and the same for every retry."""

    id: str
    value: str


def from_json_lines(body: bytes) -> list[PushedRecord]:
    """Return the records of a body of JSON lines; raises BadInput for the first bad line."""
    records = []
    for number, line in enumerate(_text(body).splitlines(), 1):
        if not line.strip():
            continue
        try:
            read = json.loads(line)
        except ValueError:
            raise BadInput(f"line {number} is not JSON: each line must be {_SHAPE}") from None
        if not isinstance(read, dict):
            raise BadInput(f"line {number} is not an object: each line must be {_SHAPE}")
        records.append(_record(read.get("id"), read.get("value"), number))
    return records


def from_tab_lines(lines: Iterable[bytes]) -> list[PushedRecord]:
    """Return the records of lines ``id TAB value``; raises BadInput for an invalid line."""
    records = []
    for number, line in enumerate(lines, 1):
        name, tab, value = _text(line).rstrip("\r\n").partition("\t")
        if not tab:
            raise BadInput(f"line {number} must be id, a tab and the value")
        records.append(_record(name, value, number))
    return records


def _record(name: object, value: object, number: int) -> PushedRecord:
    if not isinstance(name, str) or not name:
        raise BadInput(
            f"line {number} has no id: without one a record that is sent again cannot be"
            " distinguished from a new one"
        )
    if len(name.encode()) > MOST_ID_BYTES:
        raise BadInput(f"the id of line {number} is longer than {MOST_ID_BYTES} bytes")
    if not isinstance(value, str):
        raise BadInput(f"the value of line {number} must be a text, but it is {value!r:.40}")
    return PushedRecord(name, value)


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput("the data sent is not UTF-8") from None


PRODUCER_SETTINGS: Mapping[str, Any] = {
    "enable.idempotence": True,
    "acks": "all",
    "linger.ms": 5,
    "message.timeout.ms": 60_000,
}
"""The producer's settings: a record that the client library retries is appended once. After a
minute the retries end, and the sender gets an error."""


class NotWritten(Exception):
    """Not all records were written; their sender must send them again."""


class Producer(Protocol):
    """A Kafka producer with the interface of confluent-kafka."""

    def produce(self, topic: str, **record: Any) -> None:
        """Queue a record."""

    def flush(self, timeout: float) -> int:
        """Wait for the broker; return the number of unwritten records."""

    def poll(self, timeout: float) -> int:
        """Serve delivery reports."""


@dataclass(slots=True)
class Meter:
    """A receiver's totals: rows acknowledged by the broker, and seconds at full capacity."""

    rows: int = 0
    paced_s: float = 0.0
    cpu_s: Callable[[], float] = field(default=time.process_time, repr=False)

    def busy_s(self) -> float:
        """Return the seconds for which the receiver was at its limit."""
        return max(self.paced_s, self.cpu_s())


class _Writing:
    """The records of one request on their way to the broker."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._failed: str | None = None
        self._done = threading.Event()

    def report(self, error: Any, _: Any) -> None:
        """Take the delivery report of one record; runs in the thread that serves the producer."""
        if error is not None:
            self._failed = str(error)
        self._left -= 1
        if self._left == 0:
            self._done.set()

    def wait(self, within_s: float) -> None:
        """Return once the broker has all records; raises NotWritten otherwise."""
        if not self._done.wait(within_s):
            raise NotWritten(f"the broker has not answered within {within_s:g} s")
        if self._failed:
            raise NotWritten(f"the broker has not accepted a record: {self._failed}")


class Intake:
    """Writes records to a topic from any thread, at most ``rows_per_s`` (0: unlimited)."""

    def __init__(
        self,
        producer: Producer,
        topic: str,
        rows_per_s: float = 0.0,
        answer_s: float = 70.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.meter = Meter()
        self._producer, self._topic = producer, topic
        self._rows_per_s, self._answer_s, self._sleep = rows_per_s, answer_s, sleep
        self._pace = threading.Lock()
        self._gate = threading.Condition()
        self._inside = 0
        self._closed = False
        self._poller = threading.Thread(target=self._serve, name="delivery", daemon=True)
        self._poller.start()

    def take(self, records: Sequence[PushedRecord]) -> None:
        """Return once the broker has all records; after NotWritten some of them may be written."""
        with self._gate:
            if self._closed:
                raise NotWritten("this receiver is leaving")
            self._inside += 1
        try:
            self._paced(len(records))
            self._write(records)
        finally:
            with self._gate:
                self._inside -= 1
                self._gate.notify_all()

    def close(self) -> None:
        """Accept no more records, and wait for the requests in progress, at most ``_CLOSE_S``."""
        with self._gate:
            self._closed = True
            ended = self._gate.wait_for(lambda: self._inside == 0, _CLOSE_S)
        self._producer.flush(1.0 if ended else _CLOSE_S)

    def _paced(self, rows: int) -> None:
        if self._rows_per_s:
            with self._pace:
                self._sleep(rows / self._rows_per_s)
                self.meter.paced_s += rows / self._rows_per_s

    def _write(self, records: Sequence[PushedRecord]) -> None:
        if not records:
            return
        writing = _Writing(len(records))
        for record in records:
            self._queue(record, writing)
        writing.wait(self._answer_s)
        self.meter.rows += len(records)

    def _queue(self, record: PushedRecord, writing: _Writing) -> None:
        try:
            self._producer.produce(
                self._topic,
                key=record.id.encode(),
                value=record.value.encode(),
                on_delivery=writing.report,
            )
        except BufferError:
            raise NotWritten("too many records wait for the broker") from None
        except Exception as fault:  # KafkaException, which is not imported here
            raise NotWritten(f"the broker has not accepted a record: {fault}") from None

    def _serve(self) -> None:
        while not (self._closed and self._inside == 0):
            self._producer.poll(0.1)
