"""A broker in a list."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest


class MemoryProducer:
    """A Kafka producer whose broker is a list; it reports an error while ``down``, and nothing
    while ``mute``.
    """

    def __init__(self) -> None:
        self.topic: list[tuple[str, str]] = []
        self.down = self.mute = self.full = False
        self._queue: list[tuple[bytes, bytes, Callable[..., None]]] = []
        self._lock = threading.Lock()

    def produce(self, topic: str, **record: Any) -> None:
        if self.full:
            raise BufferError
        with self._lock:
            self._queue.append((record["key"], record["value"], record["on_delivery"]))

    def poll(self, timeout: float) -> int:
        if self.mute:
            threading.Event().wait(0.01)
            return 0
        with self._lock:
            queued, self._queue = self._queue, []
        for key, value, report in queued:
            if not self.down:
                self.topic.append((key.decode(), value.decode()))
            report("broker down" if self.down else None, None)
        if not queued:
            threading.Event().wait(0.005)
        return len(queued)

    def flush(self, timeout: float) -> int:
        return self.poll(0)


@pytest.fixture
def producer() -> MemoryProducer:
    """A producer whose broker is a list."""
    return MemoryProducer()
