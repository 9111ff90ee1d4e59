"""What no tick may wait for, because another computer answers it: done by a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

_log = logging.getLogger("rheostat")
_LAST_S = 10.0


class BackgroundTasks:
    """Does each errand every ``interval_s`` seconds, by what it is called in words.

    One that fails is done again next time; that is said once, and once that it goes again.
    """

    def __init__(self, errands: Mapping[str, Callable[[], None]], interval_s: float) -> None:
        self._errands = errands
        self._interval_s = interval_s
        self._failing: set[str] = set()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rheostat-errands", daemon=True)

    def start(self) -> None:
        """Do them once, then by the thread."""
        if self._errands:
            self.turn()
            self._thread.start()

    def turn(self) -> None:
        """Do each once; raises nothing."""
        for name, errand in self._errands.items():
            try:
                errand()
            except Exception as fault:
                if name not in self._failing:
                    _log.warning("rheostat: %s: %s; all goes on without it", name, fault)
                self._failing.add(name)
            else:
                if name in self._failing:
                    _log.warning("rheostat: %s: it goes again", name)
                self._failing.discard(name)

    def close(self) -> None:
        """End the thread; an errand that does not return within 10 s is left alone."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(_LAST_S)

    def _run(self) -> None:
        while not self._end.wait(self._interval_s):
            self.turn()
