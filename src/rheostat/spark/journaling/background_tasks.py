"""Tasks that depend on another computer: run by a thread of their own, so that no tick waits."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

_log = logging.getLogger("rheostat")
_LAST_S = 10.0


class BackgroundTasks:
    """Runs every task, by its description, once per ``interval_s`` seconds.

    A failure is logged once, and so is the recovery; the task is tried again each time.
    """

    def __init__(self, tasks: Mapping[str, Callable[[], None]], interval_s: float) -> None:
        self._tasks = tasks
        self._interval_s = interval_s
        self._failing: set[str] = set()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rheostat-background", daemon=True)

    def start(self) -> None:
        """Run the tasks once, then in the thread."""
        if self._tasks:
            self.turn()
            self._thread.start()

    def turn(self) -> None:
        """Run every task once; raises nothing."""
        for name, task in self._tasks.items():
            try:
                task()
            except Exception as fault:
                if name not in self._failing:
                    _log.warning("rheostat: %s: %s; the job continues", name, fault)
                self._failing.add(name)
            else:
                if name in self._failing:
                    _log.warning("rheostat: %s: recovered", name)
                self._failing.discard(name)

    def close(self) -> None:
        """End the thread; a task that does not return within 10 s is left alone."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(_LAST_S)

    def _run(self) -> None:
        while not self._end.wait(self._interval_s):
            self.turn()
