"""The thread of the rescale controller: a batch boundary has to be met within milliseconds while
something is under way.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rheostat.fault_log import FaultLog
from rheostat.spark.resizing.look_pace import CALM_S

TICK_S = 5.0
"""So often ``tick`` is called."""


class LookThread:
    """Calls ``look`` again and again, ``pause_s`` apart, both with the time in Unix seconds; it
    never keeps the application from ending.

    A look that fails is tried again: a fault of ours never reaches the job. It ends after one where
    the application has ``ended``.
    """

    def __init__(
        self,
        look: Callable[[float], None],
        pause_s: Callable[[float], float],
        ended: Callable[[], bool],
    ) -> None:
        self._look, self._pause_s, self._ended = look, pause_s, ended
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._faults = FaultLog("a step of the rescale failed; retrying")

    def start(self, tick: Callable[[], None]) -> None:
        """Look from now on; ``tick`` is called in the same thread every ``TICK_S``."""
        self._end = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(tick, self._end), name="rheostat-rescale", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Look no more, and wait for the end of a look that is under way."""
        self._end.set()
        if self._thread:
            # A call into a JVM that is ending may hang; the user's application must end all the
            # same.
            self._thread.join(timeout=10)

    def _run(self, tick: Callable[[], None], end: threading.Event) -> None:
        ticked_s = float("-inf")
        # Unix time throughout: the rhythm of a query is told by the time stamps of Spark's
        # progress.
        while not end.wait(self._pause_s(time.time())):
            try:
                self._look(time.time())
                if time.time() - ticked_s >= TICK_S:
                    ticked_s = time.time()
                    tick()
            except Exception as fault:
                # A driver whose context has stopped fails every call: that is the end and no fault.
                if self._ended():
                    return
                self._faults.say(fault)
                # What fails at every look would otherwise be tried 40 times a second.
                end.wait(CALM_S)
