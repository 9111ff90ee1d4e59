"""The handle of a running autoscaler."""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable
from pathlib import Path

from rheostat.journal.folder import FolderJournal
from rheostat.loop import Loop
from rheostat.model import Capabilities, Record
from rheostat.spark.overhead import Overhead

_log = logging.getLogger("rheostat")


class _End(threading.Event):
    """Set by ``stop``, or by itself when the application has ended: asked at every tick, also at
    one that failed.
    """

    def __init__(self, ended: Callable[[], bool]) -> None:
        super().__init__()
        self._ended = ended

    def is_set(self) -> bool:
        """Tell whether it is time to end."""
        return super().is_set() or self._ended()


class Handle:
    """A running autoscaler: ends with the application, by ``stop()``, or by the kill switch (a file
    ``STOP`` beside the journal).

    ``ended`` tells whether the application is over; ``opening`` is called before the loop's thread
    starts, ``closing`` after its last tick.
    """

    def __init__(
        self,
        loop: Loop,
        journal: FolderJournal,
        *,
        capabilities: Capabilities,
        overhead: Overhead,
        ended: Callable[[], bool],
        closing: Callable[[], None] = lambda: None,
        opening: Callable[[], None] = lambda: None,
    ) -> None:
        self.capabilities = capabilities
        self.overhead = overhead
        self.last: Record | None = None
        self._loop = loop
        self._journal = journal
        self._ended = ended
        self._closing = closing
        self._opening = opening
        self._stop = _End(ended)
        self._watchers: list[Callable[[Record], None]] = []
        self._thread: threading.Thread | None = None

    @property
    def journal(self) -> Path:
        """The folder of the journal."""
        return self._journal.folder

    @property
    def stop_file(self) -> str:
        """The name of the kill switch, a file in that folder."""
        return self._journal.stop_file.name

    @property
    def running(self) -> bool:
        """Whether the loop still runs."""
        return self._thread is not None and self._thread.is_alive()

    def watch(self, seen: Callable[[Record], None]) -> None:
        """Call ``seen`` with every record from now on, in the loop's thread."""
        self._watchers.append(seen)

    def start(self, interval_s: float) -> None:
        """Start the loop's thread; it never keeps the application from ending."""
        self._opening()
        self._thread = threading.Thread(
            target=self._run, args=(interval_s,), name="rheostat", daemon=True
        )
        self._thread.start()
        atexit.register(self.stop)

    def _run(self, interval_s: float) -> None:
        self._loop.run(interval_s, self._stop, self._seen)
        try:
            self._closing()
        except Exception as fault:
            _log.debug("rheostat: the application has ended: %s", fault)

    def stop(self) -> None:
        """Stop deciding; the application keeps its size.

        Returns when the running tick is over.
        """
        self._stop.set()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)
        self._journal.close()
        atexit.unregister(self.stop)

    def _seen(self, record: Record) -> None:
        self.last = record
        if self._ended():
            return
        self.overhead.tick()
        for watcher in self._watchers:
            watcher(record)
