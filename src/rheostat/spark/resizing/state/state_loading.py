"""Decides how moved state is loaded (in the pauses between batches if they are long enough, else by
the batches), how much fits, and which moves wait for a batch boundary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from rheostat.spark.resizing.rescale_ports import Preloading, Queries
from rheostat.spark.resizing.state.batch_slack import Loads
from rheostat.state.assignment import Unit


class LoadRoom(NamedTuple):
    """The seconds available for loading state, and the seconds per unit; None if unknown.

    ``in_pause`` is whether it loads in the pauses or in the batches.
    """

    slack_s: float | None
    load_s: float | None
    in_pause: bool


class StateLoading:
    """Learns load times and starts loads early; ``preload`` is None if batches load all state."""

    def __init__(self, queries: Queries, preload: Preloading | None, slo_s: float) -> None:
        self._queries = queries
        self._preload = preload
        self._slo_s = slo_s
        self._loads = Loads()

    def note(self, passed: Collection[str]) -> None:
        """Learn from the batches of queries that have passed a boundary."""
        for run_id in passed:
            self._loads.note(run_id, self._queries.rhythm(run_id))

    def keep(self, running: Collection[str]) -> None:
        """Forget the runs that are not in ``running``."""
        self._loads.keep(running)

    def next_end_s(self) -> float | None:
        """Return the earliest likely end of a batch in Unix seconds; None if it is unknown."""
        return self._loads.next_end_s()

    def begin(self, sent: Mapping[Unit, str], seasoned: Collection[str]) -> None:
        """Start to load the units just sent; ``seasoned`` executors have loaded state before."""
        # At once: the pause into which the load must fit has already begun.
        if self._preload:
            self._preload.begin(sent)
        for run_id in {unit[0] for unit in sent}:
            units = Counter(executor for unit, executor in sent.items() if unit[0] == run_id)
            # The batch that loads state is unusual, and would inflate the next slack.
            self._queries.moves(run_id)
            # Executors load in parallel, so the one with the most units determines the duration of
            # the batch.
            self._loads.sent(run_id, max(units.values()), cold=bool(units.keys() - set(seasoned)))

    def room(self, runs: Collection[str], growing: bool, cold: bool) -> LoadRoom:
        """Return the room for loading the state of these runs; ``cold``: an executor waits for its
        first unit.

        The room of a batch depends on whether the application is ``growing``.
        """
        in_pauses = self._preload.room(self._pauses_s(runs)) if self._preload else None
        if in_pauses:
            return LoadRoom(*in_pauses, in_pause=True)
        slack_s, load_s = self._loads.slack_and_load_s(self._slo_s, growing, cold)
        return LoadRoom(slack_s, load_s, in_pause=False)

    def _pauses_s(self, runs: Collection[str]) -> dict[str, float]:
        usual = {run_id: self._queries.rhythm(run_id).usual_pause_s for run_id in runs}
        return {run_id: pause_s for run_id, pause_s in usual.items() if pause_s is not None}


class PendingMoves:
    """Units and their target executors that wait for the end of their query's batch; the later of
    two moves of a unit counts.
    """

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
        """Remove and return the units whose query has ``passed`` a boundary, and those ``lost``
        with their executor, which need not wait.
        """
        # A unit whose holder is gone is open nowhere, so no running batch can claim it back.
        taken = {unit: to for unit, to in self._to.items() if unit[0] in passed or unit in lost}
        self._to = {unit: to for unit, to in self._to.items() if unit not in taken}
        return taken

    def keep(self, running: Collection[str]) -> None:
        """Drop the moves of runs that are not in ``running``."""
        self._to = {unit: to for unit, to in self._to.items() if unit[0] in running}
