"""Warms executors between their registration and their first state: with a task that starts a Python worker, where a query needs one.

The JVM of an executor arrives warm (``spark/warm_start.py``); a Python worker cannot be started before Spark is. The task holds the
executor's slot for a second or two, so the steward keeps the Kafka source from preferring it meanwhile.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from py4j.protocol import Py4JError

_log = logging.getLogger("rheostat")
WAYS = ("auto", "off")
DEADLINE_S = 20.0
"""An executor that takes longer gets its state as it is."""
_GROUP = "rheostat-warm-up"


class Tasks(Protocol):
    """Sends tasks to executors, and knows which queries need Python."""

    def uses_python(self, query: Any) -> bool:
        """Tell whether tasks of a query need Python workers."""
        ...

    def run_python_on(self, executor: str, host: str, work: Callable[[], None], group: str) -> None:
        """Run a function on an executor and wait for its end."""
        ...


class Warmup:
    """Warms executors, each in a thread of its own; ``way`` is ``auto`` (where a running query needs Python workers) or ``off``.

    ``active`` returns the running queries. An executor counts as warm when its task has ended, well or not, or after ``DEADLINE_S``.
    """

    def __init__(
        self, tasks: Tasks, active: Callable[[], Iterable[Any]], way: str = "auto", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tasks, self._active, self._way, self._clock = tasks, active, way, clock
        self._python: dict[str, bool] = {}
        self._began_s: dict[str, float] = {}
        self._done: set[str] = set()
        self._closed = False

    @property
    def available(self) -> bool:
        """Whether executors are warmed before they get state."""
        return not self._closed and self._way == "auto" and any(map(self._needs_python, self._active()))

    @property
    def reason(self) -> str:
        """Why not, in one line; empty if they are."""
        if self.available:
            return ""
        return "warm-up is off" if self._way == "off" else "no running query needs Python workers, and the rest is warm on arrival"

    def begin(self, executor: str, host: str) -> None:
        """Start to warm an executor; an executor is warmed once."""
        if executor not in self._began_s and not self._closed:
            self._began_s[executor] = self._clock()
            threading.Thread(target=self._warm, args=(executor, host), name=f"rheostat-warm-up-{executor}", daemon=True).start()

    def ready(self) -> frozenset[str]:
        """Return the executors that have been warmed, or have had their time."""
        late = {executor for executor, began_s in self._began_s.items() if self._clock() - began_s > DEADLINE_S}
        return frozenset(self._done | late)

    def close(self) -> None:
        """Warm no more executors; a task that runs is left to its end."""
        self._closed = True

    def _needs_python(self, query: Any) -> bool:
        run_id = str(query.runId)
        if run_id not in self._python and query.lastProgress is not None:  # it has no plan before its first batch
            self._python[run_id] = self._tasks.uses_python(query)
        return self._python.get(run_id, False)

    def _warm(self, executor: str, host: str) -> None:
        try:
            self._tasks.run_python_on(executor, host, imports(), _GROUP)
        except (Py4JError, OSError) as fault:
            _log.debug("rheostat: executor %s was not warmed: %s", executor, fault)
        finally:
            self._done.add(executor)


def imports() -> Callable[[], None]:
    """Return a function that imports, in a Python worker, what a query's functions most likely need; what is not installed is left out.

    A function made here travels as a whole: the workers of another computer have no Rheostat to import it from.
    """

    def work() -> None:
        import contextlib
        import importlib

        for name in ("pyspark.sql.functions", "pyarrow", "pandas"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    return work
