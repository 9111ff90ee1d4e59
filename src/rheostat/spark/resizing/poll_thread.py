"""The thread of the rescale controller, which meets a batch boundary within milliseconds during a
rescale, and its polling interval: short while changes are likely, longer after a quiet period.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rheostat.loop import FaultLog

POLL_S, COUNT_S, IDLE_S = 0.025, 0.1, 1.0
"""Polling intervals in seconds: for a batch boundary, for executors that are about to register or
to be removed, and while nothing is in progress."""

RECENT_S, SLOW_S = 60.0, 0.2
"""After ``RECENT_S`` seconds without a change, and as long as no batch is likely to end, a boundary
is polled every ``SLOW_S`` seconds.

A longer interval would exceed ``batch_boundaries.FRESH_S``.
"""
OVERDUE_SHARE = 0.05
"""The maximum delay of detecting a batch's end, as a share of the time since it became likely."""


class Pace:
    """Computes the pause until the next poll from the work in progress and the last change."""

    def __init__(self) -> None:
        self._facts: object = None
        self._changed_s = float("-inf")

    def note(self, facts: object, now: float) -> None:
        """Take the current facts; a difference from the last ones is a change."""
        if facts != self._facts:
            self._facts, self._changed_s = facts, now

    def pause_s(self, busy: bool, phase: str, now: float, next_end_s: float | None = None) -> float:
        """Return the seconds until the next poll; ``busy``: a batch boundary is awaited, which is
        not likely before ``next_end_s`` (Unix seconds); ``phase`` is that of the rescale.
        """
        if not busy:
            return COUNT_S if self.changes(phase, now) else IDLE_S
        if not self._changed_recently(now):
            return SLOW_S
        if next_end_s is None:
            return POLL_S
        if now < next_end_s:
            # A batch may also end sooner than any recent one.
            return min(SLOW_S, max(POLL_S, next_end_s - now))
        # The batch after a long one is long as well, so it needs its state later.
        return min(COUNT_S, max(POLL_S, OVERDUE_SHARE * (now - next_end_s)))

    def changes(self, phase: str, now: float) -> bool:
        """Return whether a rescale is in progress and has changed something within ``RECENT_S``."""
        # A blocked rescale may wait for hours and needs no frequent polling.
        return phase not in ("steady", "blocked") and self._changed_recently(now)

    def _changed_recently(self, now: float) -> bool:
        return now - self._changed_s < RECENT_S


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
        name: str = "rheostat-rescale",
    ) -> None:
        self._name = name
        self._poll, self._pause_s, self._ended = poll, pause_s, ended
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._faults = FaultLog("a step of the rescale failed; retrying")

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Start polling; ``tick`` is called in the same thread every ``TICK_S``."""
        self._end = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(tick, self._end), name=self._name, daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop polling, and wait for a call in progress."""
        self._end.set()
        if self._thread:
            # A call into a JVM that shuts down may hang; the application must end nevertheless.
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
