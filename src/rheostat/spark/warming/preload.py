"""Loads state where it has been sent, in the pause before the batch that needs it.

A partition that has been sent to another executor is loaded there by the next batch, which lasts
the longer for it. Where the query pauses between two batches, the executor loads it in the pause
instead, and the batch finds it open.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from statistics import median
from typing import Any, Protocol

from rheostat.spark.warming.warmup import POLL_S
from rheostat.state.units import Unit

_log = logging.getLogger("rheostat")
GROUP = "rheostat-preload"
"""The job group of the tasks that load."""

FIRST_S = 0.5
"""What a partition is taken to need before one has been loaded."""

SPARE_S = 0.2
"""What is left of a pause for all that a job needs beside its tasks."""
BOUNDARY_S = 0.2
"""After its last progress a query takes some milliseconds until it says that it pauses."""

_REMEMBERED = 9
_TRIES = 3
"""After so many failures in a row nothing more is tried: this Spark or this query cannot do it."""


class Pauses(Protocol):
    """Knows the pauses of queries."""

    def pause_left_s(self, query: Any, now: float) -> float:
        """Return for how long a query will run no batch, from ``now`` in Unix seconds; 0 while it
        runs one.
        """
        ...


class Tasks(Protocol):
    """Sends tasks to executors."""

    def preload(self, query: Any, partitions: Collection[int], group: str) -> bool:
        """Open partitions of the state where they have been sent, and wait for the end of it; False
        where that cannot be.
        """
        ...


class Preload:
    """Loads what is sent at a boundary, as far as the pause after it has room; ``active`` returns
    the running queries.

    How long a partition takes is measured: the median of the last ones. What does not fit, the
    batch loads; after three failures in a row it loads everything.
    """

    def __init__(
        self,
        tasks: Tasks,
        active: Callable[[], Iterable[Any]],
        pauses: Pauses,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._tasks, self._active, self._pauses, self._clock = tasks, active, pauses, clock
        self._busy = threading.Lock()
        self._took_s: dict[str, deque[float]] = {}
        """What a partition took, by run."""
        self._failures = 0

    def begin(self, sent: Mapping[Unit, str]) -> None:
        """Start to load units on the executors that they have been sent to, in a thread of its own;
        nothing while it is at work still.
        """
        # A plain lock, not a reentrant one: the thread that ends the load is another than the one
        # here.
        if sent and self._failures < _TRIES and self._busy.acquire(blocking=False):
            threading.Thread(
                target=self._load, args=(dict(sent),), name="rheostat-preload", daemon=True
            ).start()

    def room(self, pauses_s: Mapping[str, float]) -> tuple[float, float] | None:
        """Return the seconds that each pause leaves for loading, the queries in turn, and what a
        unit of the slowest takes.

        None unless the last load went well, state of each query has been loaded so before, and a
        unit fits.
        """
        if self._failures or not pauses_s or not pauses_s.keys() <= self._took_s.keys():
            return None
        room_s = (min(pauses_s.values()) - SPARE_S) / len(pauses_s)
        load_s = max(self._load_s(run_id) for run_id in pauses_s)
        return (room_s, load_s) if load_s <= room_s else None

    def _load_s(self, run_id: str) -> float:
        return median(self._took_s.get(run_id, [FIRST_S]))

    def _load(self, sent: Mapping[Unit, str]) -> None:
        try:
            # The queries are asked for anew: a run may have ended since its units were sent.
            running = {str(query.runId): query for query in self._active()}
            self._took_s = {
                run_id: took_s for run_id, took_s in self._took_s.items() if run_id in running
            }
            for run_id, query in running.items():
                self._load_for(
                    query,
                    {unit[1]: executor for unit, executor in sent.items() if unit[0] == run_id},
                )
            self._failures = 0
        except Exception as fault:  # whatever Spark says: the batch loads it then
            self._failures += 1
            _log.debug("rheostat: state was not loaded before its batch: %s", fault)
            if self._failures == _TRIES:
                _log.info(
                    "rheostat: state that moves is loaded by batches from now on: loading it before"
                    " them failed %d times",
                    _TRIES,
                )
        finally:
            self._busy.release()

    def _load_for(self, query: Any, sent: Mapping[int, str]) -> None:
        chosen = (
            fitting(sent, self._pause_s(query) - SPARE_S, self._load_s(str(query.runId)))
            if sent
            else ()
        )
        began_s = self._clock()
        if chosen and self._tasks.preload(query, chosen, GROUP):
            # Executors load side by side and each its own in turn: the fullest one took the whole
            # time.
            most = max(Counter(sent[partition] for partition in chosen).values())
            took_s = self._took_s.setdefault(str(query.runId), deque([FIRST_S], maxlen=_REMEMBERED))
            took_s.append((self._clock() - began_s) / most)

    def _pause_s(self, query: Any) -> float:
        until_s = self._clock() + BOUNDARY_S
        while True:
            left_s = self._pauses.pause_left_s(query, self._clock())
            if left_s > 0 or self._clock() >= until_s:
                return left_s
            time.sleep(POLL_S)


def fitting(sent: Mapping[int, str], room_s: float, load_s: float) -> tuple[int, ...]:
    """Return the partitions that fit: of each executor the first ones, as many as it can load one
    after the other in ``room_s``.
    """
    # The pause may be over already; a negative room fits nothing.
    most = int(max(0.0, room_s) / load_s)
    chosen, given = [], Counter[str]()
    for partition, executor in sorted(sent.items()):
        if given[executor] < most:
            given[executor] += 1
            chosen.append(partition)
    return tuple(chosen)
