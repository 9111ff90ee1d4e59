"""The thread of the rescale controller, which must meet a batch boundary within milliseconds during
a rescale.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rheostat.fault_log import FaultLog
from rheostat.spark.resizing.poll_interval import IDLE_S

TICK_S = 5.0
"""The interval in seconds at which ``tick`` is called."""


class PollThread:
    """Calls ``poll`` repeatedly, ``pause_s`` apart, both with the time in Unix seconds; it never
    keeps the application from ending.

    An exception is logged and the call is repeated, so that our faults never reach the job. The
    thread stops if the application has ``ended`` when a call fails.
    """

    def __init__(
        self,
        poll: Callable[[float], None],
        pause_s: Callable[[float], float],
        ended: Callable[[], bool],
    ) -> None:
        self._poll, self._pause_s, self._ended = poll, pause_s, ended
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._faults = FaultLog("a step of the rescale failed; retrying")

    def start(self, tick: Callable[[], None]) -> None:
        """Start polling; ``tick`` is called in the same thread every ``TICK_S``."""
        self._end = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(tick, self._end), name="rheostat-rescale", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop polling, and wait for a call in progress."""
        self._end.set()
        if self._thread:
            # A call into a JVM that is shutting down may hang; the user's application must end
            # nevertheless.
            self._thread.join(timeout=10)

    def _run(self, tick: Callable[[], None], end: threading.Event) -> None:
        ticked_s = float("-inf")
        # Unix time throughout: the rhythm of a query follows the timestamps of Spark's progress.
        while not end.wait(self._pause_s(time.time())):
            try:
                self._poll(time.time())
                if time.time() - ticked_s >= TICK_S:
                    ticked_s = time.time()
                    tick()
            except Exception as fault:
                # After the context has stopped every call fails: this is the normal end.
                if self._ended():
                    return
                self._faults.warn(fault)
                # Without this pause a persistent failure would repeat 40 times per second.
                end.wait(IDLE_S)
