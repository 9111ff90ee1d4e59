"""Warms executors between registration and first state, so that no batch waits for a cold JVM.

The warm-up starts a Python worker if needed, and reruns tasks of each query's last batch in the
pauses: first source tasks, then one that reads state. The Kafka source avoids the executor in the
meantime. If pauses are too short, its slots are held during a few batches.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from rheostat.spark.internals.placed_tasks import PlacedTasks, WarmupRunner
from rheostat.spark.running_queries import Rhythms

_log = logging.getLogger("rheostat")
DEADLINE_S = 20.0
"""An executor that is not warm after this many seconds gets its state nevertheless."""

ROOM_S = 1.0
"""The minimum pause for a warm-up of state; one that overlaps a batch costs more than none."""

FIRST_READING_S = 1.5
"""The assumed seconds of the first warm-up of source tasks; measured ones are 1 to 3 s."""

_REMEMBERED = 3
HOLDS = 3
"""An executor with this many pauses that were too short gets its first source task from a batch."""
PAUSE_WITHIN_S = 10.0
"""A query without a sufficient pause within this many seconds is skipped."""

POLL_S = 0.025
GROUP = "rheostat-warm-up"
"""The job group of the warm-up tasks."""


@dataclass(eq=False)
class Warmup:
    """Warms executors, in one thread each; ``active`` returns the queries.

    ``loads``: the warm-up may load first state. An executor is warm when its tasks have ended, or
    after ``DEADLINE_S``.
    """

    tasks: PlacedTasks
    runner: WarmupRunner
    rhythms: Rhythms
    active: Callable[[], Iterable[Any]]
    clock: Callable[[], float] = time.monotonic
    loads: bool = True

    def __post_init__(self) -> None:
        self._known: set[str] = set()
        self._reading_s: deque[float] = deque(maxlen=_REMEMBERED)
        self._unreadable: set[str] = set()
        """The runs whose last rerun of source tasks was not possible."""
        self._began_s: dict[str, float] = {}
        self._done: set[str] = set()
        self._closed, self._holds = False, True

    @property
    def available(self) -> bool:
        """Whether executors are warmed before they get state: a query has run a batch."""
        # Read at every poll: the JVM is called only until a query has run a batch.
        return not self._closed and bool(self._known or self._begun())

    def begin(self, executor: str, host: str) -> None:
        """Start to warm an executor; an executor is warmed once."""
        if executor not in self._began_s and not self._closed:
            self._began_s[executor] = self.clock()
            threading.Thread(
                target=self._warm,
                args=(executor, host),
                name=f"rheostat-warm-up-{executor}",
                daemon=True,
            ).start()

    def ready(self) -> frozenset[str]:
        """Return the executors that have been warmed, or whose time limit has passed."""
        late = {
            executor
            for executor, began_s in self._began_s.items()
            if self.clock() - began_s > DEADLINE_S
        }
        return frozenset(self._done | late)

    def close(self) -> None:
        """Warm no more executors; a running task continues to its end."""
        self._closed = True

    def _begun(self) -> list[Any]:
        """Return the running queries that have a plan: those that have run a batch."""
        queries = list(self.active())
        self._known |= {
            str(query.runId)
            for query in queries
            # lastProgress fetches the complete event, so it is read only until one exists.
            if str(query.runId) not in self._known and query.lastProgress is not None
        }
        return [query for query in queries if str(query.runId) in self._known]

    def _warm(self, executor: str, host: str) -> None:
        try:
            queries = self._begun()
            # The counter includes our own tasks, which must not be taken for source tasks.
            ours = int(any(map(self.runner.uses_python, queries)))
            if ours:
                self.tasks.run_python_on(executor, host, imports(), GROUP)
            for query in queries:
                self._rerun_tasks(query, executor, host, ours)
                ours = self.tasks.tasks_done(executor)
        except Exception as fault:  # the executor then gets its state while it is cold
            _log.debug("rheostat: executor %s was not warmed: %s", executor, fault)
        finally:
            # After a failure, too, the protocol must not wait for this executor any longer.
            self._done.add(executor)

    def _rerun_tasks(self, query: Any, executor: str, host: str, ours: int) -> None:
        """Rerun tasks in the query's next long pauses; queries without any are skipped.

        An executor that has run tasks other than ``ours`` needs no source tasks.
        """

        def has_read() -> bool:
            return self.tasks.tasks_done(executor) > ours

        for _ in range(HOLDS):
            # Each iteration holds the executor through one batch; the next pause may be longer.
            held = 0 if has_read() else self._hold(query, executor, host)
            ours += held
            if not (held and self._await_pause(query, lambda left_s: left_s > 0)):
                break
        if not self._await_pause(
            query, lambda left_s: left_s >= self._min_reading_pause_s or has_read()
        ):
            return
        read = has_read() or self._read(query, executor, host)
        # State last, in a separate pause: computing needs the classes that reading has just loaded.
        if read and self.loads and self._await_pause(query, lambda left_s: left_s >= ROOM_S):
            self.runner.compute_again(query, executor, host, GROUP)

    @property
    def _min_reading_pause_s(self) -> float:
        """Return the minimum pause in seconds for rerunning source tasks."""
        return max(ROOM_S, median(self._reading_s or [FIRST_READING_S]))

    def _hold(self, query: Any, executor: str, host: str) -> int:
        """Hold an executor through the next batch if no pause is long enough for the source."""
        if not self._holds or str(query.runId) in self._unreadable:
            return 0
        # Unix time instead of the monotonic clock: rhythms follow Spark's timestamps.
        left_s, rhythm = self.rhythms.pause_left_s(query, time.time()), self.rhythms.of(query)
        if not 0 < left_s < self._min_reading_pause_s <= rhythm.longest_pause_s:
            return 0
        try:
            return self.tasks.hold(executor, host, left_s + rhythm.shortest_batch_s, GROUP)
        except Exception as fault:  # Spark may forbid calls of Java in SQL
            _log.debug("rheostat: executor %s cannot be held: %s", executor, fault)
            self._holds = False
            return 0

    def _read(self, query: Any, executor: str, host: str) -> bool:
        began_s = self.clock()
        read = self.runner.read_again(query, executor, host, GROUP)
        if read:
            self._reading_s.append(self.clock() - began_s)
            self._unreadable.discard(str(query.runId))
        else:
            self._unreadable.add(str(query.runId))
        return read

    def _await_pause(self, query: Any, is_enough: Callable[[float], bool]) -> bool:
        """Wait for a pause that is long enough; False without one in time."""
        if self.rhythms.of(query).longest_pause_s < ROOM_S:
            return False
        until_s = self.clock() + PAUSE_WITHIN_S
        while self.clock() < until_s and not self._closed:
            if is_enough(self.rhythms.pause_left_s(query, time.time())):
                return True
            time.sleep(POLL_S)
        return False


def imports() -> Callable[[], None]:
    """Return a self-contained function that imports a query's likely modules in a Python worker."""

    def work() -> None:
        import contextlib
        import importlib

        for name in ("pyspark.sql.functions", "pyarrow", "pandas"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    return work
