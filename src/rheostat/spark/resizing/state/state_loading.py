"""How state that moves is loaded: in the pauses between batches where they have room, else by the
batches; how much of it there is room for, and which moves wait for a batch boundary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from rheostat.spark.resizing.rescale_ports import Preloading, Queries
from rheostat.spark.resizing.state.batch_slack import Loads
from rheostat.state.assignment import Unit


class LoadRoom(NamedTuple):
    """How long state may load, and what a unit takes, in seconds; None where it is not known yet.

    ``in_pause`` tells whether it loads in the pauses or in the batches.
    """

    slack_s: float | None
    load_s: float | None
    in_pause: bool


class StateLoading:
    """Learns what loading takes, and has it done early; ``preload`` is None where batches load all
    state.
    """

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
        """Forget the runs that have ended."""
        self._loads.keep(running)

    def next_end_s(self) -> float | None:
        """Return when a batch may end at the earliest, in Unix seconds; None where nobody knows."""
        return self._loads.next_end_s()

    def begin(self, sent: Mapping[Unit, str], seasoned: Collection[str]) -> None:
        """Let what was just sent be loaded; ``seasoned`` executors have loaded state before."""
        # At once: the pause into which the load must fit is already running.
        if self._preload:
            self._preload.begin(sent)
        for run_id in {unit[0] for unit in sent}:
            units = Counter(executor for unit, executor in sent.items() if unit[0] == run_id)
            # The batch that loads is no usual one, and would make the next slack look larger than
            # it is.
            self._queries.moves(run_id)
            # Executors load side by side, so the one with the most units decides how long the batch
            # lasts.
            self._loads.sent(run_id, max(units.values()), cold=bool(units.keys() - set(seasoned)))

    def room(self, runs: Collection[str], growing: bool, cold: bool) -> LoadRoom:
        """Return the room for the state of these runs; ``cold``: an executor waits for its first.

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
    """Keeps units with the executors that they are to go to until their query has ended a batch; of
    two moves of a unit the later counts.
    """

    def __init__(self) -> None:
        self._to: dict[Unit, str] = {}

    def __bool__(self) -> bool:
        return bool(self._to)

    @property
    def runs(self) -> set[str]:
        """The runs of queries whose boundary is waited for."""
        return {unit[0] for unit in self._to}

    def add(self, units: Mapping[Unit, str]) -> None:
        """Let units wait."""
        self._to.update(units)

    def take(self, passed: Collection[str], lost: Collection[Unit] = ()) -> dict[Unit, str]:
        """Return what waits no longer: the units of queries that have ``passed`` a boundary, and
        those that are ``lost`` with their executor, which wait for none.
        """
        # A unit whose holder is gone is open nowhere, so no running batch can claim it back.
        taken = {unit: to for unit, to in self._to.items() if unit[0] in passed or unit in lost}
        self._to = {unit: to for unit, to in self._to.items() if unit not in taken}
        return taken

    def keep(self, running: Collection[str]) -> None:
        """Drop the moves of queries that have ended."""
        self._to = {unit: to for unit, to in self._to.items() if unit[0] in running}
