"""Loads state at its new location in the pause before the batch that needs it."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from rheostat.spark.warming.warmup import POLL_S
from rheostat.state.assignment import Unit

_log = logging.getLogger("rheostat")
GROUP = "rheostat-preload"
"""The job group of the loading tasks."""

FIRST_S = 0.5
"""The assumed load time of a partition in seconds before the first measurement."""

SPARE_S = 0.2
"""The seconds of a pause that are reserved for a job's overhead besides its tasks."""
BOUNDARY_S = 0.2
"""After its last progress a query takes some milliseconds to report that it pauses."""

_REMEMBERED = 9
_TRIES = 3
"""The number of consecutive failures after which loading ends: it is not supported here."""


Load = Callable[[Any, Collection[int], str], bool]
"""Opens assigned state partitions of a query and waits for the end; False if impossible."""


@dataclass(eq=False)
class Preload:
    """Loads the moves of a boundary as far as the pause allows; ``active`` returns the queries, and
    ``pause_left_s`` the seconds from a Unix time until a query's next batch, 0 during a batch.

    Load times are measured; the batch loads the rest, and everything after three failures.
    """

    load: Load
    active: Callable[[], Iterable[Any]]
    pause_left_s: Callable[[Any, float], float]
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self._busy = threading.Lock()
        self._took_s: dict[str, deque[float]] = {}
        """The load times of a partition in seconds, by run."""
        self._failures = 0

    def begin(self, sent: Mapping[Unit, str]) -> None:
        """Start to load assigned units in a background thread, unless one is running."""
        # Not a reentrant lock, because another thread releases it at the end of the load.
        if sent and self._failures < _TRIES and self._busy.acquire(blocking=False):
            threading.Thread(
                target=self._load, args=(dict(sent),), name="rheostat-preload", daemon=True
            ).start()

    def room(self, pauses_s: Mapping[str, float]) -> tuple[float, float] | None:
        """Return the seconds per pause for loading and a unit's load time; None if nothing fits."""
        if self._failures or not pauses_s or not pauses_s.keys() <= self._took_s.keys():
            return None
        available_s = (min(pauses_s.values()) - SPARE_S) / len(pauses_s)
        load_s = max(self._load_s(run_id) for run_id in pauses_s)
        return (available_s, load_s) if load_s <= available_s else None

    def _load_s(self, run_id: str) -> float:
        return median(self._took_s.get(run_id, [FIRST_S]))

    def _load(self, sent: Mapping[Unit, str]) -> None:
        try:
            # Read again, because a run may have ended since its units were sent.
            running = {str(query.runId): query for query in self.active()}
            self._took_s = {
                run_id: took_s for run_id, took_s in self._took_s.items() if run_id in running
            }
            for run_id, query in running.items():
                self._load_for(
                    query,
                    {unit[1]: executor for unit, executor in sent.items() if unit[0] == run_id},
                )
            self._failures = 0
        except Exception as fault:  # the batch loads the state then
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
        began_s = self.clock()
        if chosen and self.load(query, chosen, GROUP):
            # Executors load in parallel, so the fullest one determined the time.
            most = max(Counter(sent[partition] for partition in chosen).values())
            took_s = self._took_s.setdefault(str(query.runId), deque([FIRST_S], maxlen=_REMEMBERED))
            took_s.append((self.clock() - began_s) / most)

    def _pause_s(self, query: Any) -> float:
        until_s = self.clock() + BOUNDARY_S
        while True:
            left_s = self.pause_left_s(query, self.clock())
            if left_s > 0 or self.clock() >= until_s:
                return left_s
            time.sleep(POLL_S)


def fitting(sent: Mapping[int, str], available_s: float, load_s: float) -> tuple[int, ...]:
    """Return the first partitions of each executor that load one by one within ``available_s``."""
    # The pause may be over already; nothing fits into a negative room.
    most = int(max(0.0, available_s) / load_s)
    chosen, given = [], Counter[str]()
    for partition, executor in sorted(sent.items()):
        if given[executor] < most:
            given[executor] += 1
            chosen.append(partition)
    return tuple(chosen)
