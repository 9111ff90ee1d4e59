"""Decides how moved state is loaded (in the pauses between batches if they are long enough, else by
the batches), how much fits, and which moves wait for a batch boundary.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping
from statistics import median
from typing import NamedTuple

from rheostat.signals.rhythm import Rhythm
from rheostat.spark.running_queries import RunningQueries
from rheostat.spark.warming.preload import Preload
from rheostat.state.assignment import Unit

OUT_SHARE, IN_SHARE = 0.4, 0.2
"""The share of a batch that a move may add when scaling out and in, hardly noticeable."""

_REMEMBERED = 9
_LEAST_S = 0.08
"""The minimum load time per partition: batches vary by more than a small load takes."""


def slack_s(batch_s: float, slo_s: float, growing: bool) -> float:
    """Return the seconds that a batch of this usual length leaves for loading state."""
    return max(0.0, min(slo_s - batch_s, (OUT_SHARE if growing else IN_SHARE) * batch_s))


class LoadRoom(NamedTuple):
    """The seconds available for loading state, and the seconds per unit; None if unknown.

    ``in_pause`` is whether it loads in the pauses or in the batches.
    """

    slack_s: float | None
    load_s: float | None
    in_pause: bool


class StateLoading:
    """Starts loads early, and learns each query's load time per partition: the excess of a batch
    with a move. ``preload`` is None if batches load all state.
    """

    def __init__(self, queries: RunningQueries, preload: Preload | None, slo_s: float) -> None:
        self._queries = queries
        self._preload = preload
        self._slo_s = slo_s
        self._rhythms: dict[str, Rhythm] = {}
        self._loads: dict[str, deque[float]] = {}
        self._sent: dict[str, tuple[int, bool]] = {}

    def note(self, passed: Collection[str]) -> None:
        """Learn from the batches of queries that have passed a boundary."""
        for run_id in passed:
            self.learn(run_id, self._queries.rhythm(run_id))

    def begin(self, sent: Mapping[Unit, str], seasoned: Collection[str]) -> None:
        """Start to load the units just sent; ``seasoned`` executors have loaded state before."""
        # At once: the pause into which the load must fit has already begun.
        if self._preload:
            self._preload.begin(sent)
        for run_id in {unit[0] for unit in sent}:
            units = Counter(executor for unit, executor in sent.items() if unit[0] == run_id)
            # The batch that loads state is unusual, and would inflate the next slack.
            self._queries.moves(run_id)
            # Executors load in parallel, so the one with the most units determines the time.
            self.sent(run_id, max(units.values()), cold=bool(units.keys() - set(seasoned)))

    def sent(self, run_id: str, units: int, cold: bool) -> None:
        """Record what was sent at a boundary: the maximum number of partitions for one executor,
        and whether an executor got its first.

        The batch of a cold executor does not measure loading because it also loads classes.
        """
        self._sent[run_id] = (units, cold)

    def learn(self, run_id: str, rhythm: Rhythm) -> None:
        """Learn from a query's rhythm after its last batch."""
        known = self._rhythms.get(run_id)
        if rhythm.last is None or (known and known.last == rhythm.last):
            return
        self._rhythms[run_id] = rhythm
        # Removed in any case: only the first batch after a move loads the state.
        units, cold = self._sent.pop(run_id, (0, False))
        usual_s = rhythm.usual_batch_s
        if units and usual_s is not None and not cold:
            load_s = max(_LEAST_S, (rhythm.last.duration_s - usual_s) / units)
            self._loads.setdefault(run_id, deque(maxlen=_REMEMBERED)).append(load_s)

    def keep(self, running: Collection[str]) -> None:
        """Forget the runs that are not in ``running``."""
        for known in (self._rhythms, self._loads, self._sent):
            for run_id in known.keys() - set(running):
                del known[run_id]

    def next_end_s(self) -> float | None:
        """Return the earliest likely end of any query's batch (Unix seconds); None if unknown."""
        # A copy, because the polling thread calls this while another may add a rhythm.
        ends_s = [rhythm.next_commit_s for rhythm in list(self._rhythms.values())]
        return min((end_s for end_s in ends_s if end_s is not None), default=None)

    def room(self, runs: Collection[str], growing: bool, cold: bool) -> LoadRoom:
        """Return the room for loading the state of these runs; ``cold``: an executor waits for its
        first unit.

        The room of a batch depends on whether the application is ``growing``.
        """
        in_pauses = self._preload.room(self._pauses_s(runs)) if self._preload else None
        if in_pauses:
            return LoadRoom(*in_pauses, in_pause=True)
        slack_s, load_s = self.slack_and_load_s(growing, cold)
        return LoadRoom(slack_s, load_s, in_pause=False)

    def slack_and_load_s(self, growing: bool, cold: bool) -> tuple[float | None, float | None]:
        """Return the least slack and the greatest load time of all queries; None for unknown
        values.

        With ``cold``, an executor waits for its first partition, which gets a batch to itself: the
        load takes the complete slack.
        """
        usual = [
            batch_s
            for rhythm in self._rhythms.values()
            if (batch_s := rhythm.usual_batch_s) is not None
        ]
        loads = [median(loads) for loads in self._loads.values()]
        # The queries share the executors and a move slows all of them, so the tightest one decides.
        slack = min((slack_s(batch_s, self._slo_s, growing) for batch_s in usual), default=None)
        if slack is None or not loads:
            # Without a measured load the caller sends a single unit, and learns from it.
            return slack, None
        return slack, max(*loads, slack) if cold else max(loads)

    def _pauses_s(self, runs: Collection[str]) -> dict[str, float]:
        usual = {run_id: self._queries.rhythm(run_id).usual_pause_s for run_id in runs}
        return {run_id: pause_s for run_id, pause_s in usual.items() if pause_s is not None}


class PendingMoves:
    """Units with their targets that wait for their query's boundary; the latest move counts."""

    def __init__(self) -> None:
        self._to: dict[Unit, str] = {}

    def __bool__(self) -> bool:
        return bool(self._to)

    @property
    def runs(self) -> set[str]:
        """The runs whose boundary is awaited."""
        return {unit[0] for unit in self._to}

    def add(self, units: Mapping[Unit, str]) -> None:
        """Add units that wait."""
        self._to.update(units)

    def take(self, passed: Collection[str], lost: Collection[Unit] = ()) -> dict[Unit, str]:
        """Remove and return the units whose query has ``passed``, and those that are ``lost``."""
        # A unit whose holder is gone is open nowhere, so no running batch can claim it back.
        taken = {unit: to for unit, to in self._to.items() if unit[0] in passed or unit in lost}
        self._to = {unit: to for unit, to in self._to.items() if unit not in taken}
        return taken

    def keep(self, running: Collection[str]) -> None:
        """Drop the moves of runs that are not in ``running``."""
        self._to = {unit: to for unit, to in self._to.items() if unit[0] in running}
