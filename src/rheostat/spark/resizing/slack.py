"""How much time a batch has left for loading state, and what the loading of one partition takes:
measured, not assumed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from statistics import median

from rheostat.spark.sensing.progress import Batch

OUT_SHARE, IN_SHARE = 0.4, 0.2
"""What a move may add to a batch, in batches: below the half and the quarter that nobody should
notice."""

_REMEMBERED = 9
_LEAST_S = 0.08
"""What is reckoned for a partition at least: batches differ by more than a small one takes, and
moves that are spread cost little."""


def slack_s(batch_s: float, objective_s: float, growing: bool) -> float:
    """Return the seconds that state may load in a batch: a share of the usual batch, and never more
    than the objective leaves.
    """
    return max(0.0, min(objective_s - batch_s, (OUT_SHARE if growing else IN_SHARE) * batch_s))


class Loads:
    """Learns, for each query, the usual batch time from batches without a move, and the time to
    load a partition from those with one.
    """

    def __init__(self) -> None:
        self._quiet: dict[str, deque[float]] = {}
        self._loads: dict[str, deque[float]] = {}
        self._sent: dict[str, tuple[int, bool]] = {}
        self._noted: dict[str, int] = {}

    def sent(self, run_id: str, units: int, cold: bool) -> None:
        """Note what was sent at a boundary: the most partitions for one executor, and whether an
        executor got its first.

        The batch of a cold executor tells nothing of loading: it loads classes.
        """
        self._sent[run_id] = (units, cold)

    def note(self, run_id: str, batch: Batch | None) -> None:
        """Take a query's last batch."""
        if batch is None or self._noted.get(run_id) == batch.batch_id:
            return
        self._noted[run_id] = batch.batch_id
        units, cold = self._sent.pop(run_id, (0, False))
        usual_s = self.batch_s(run_id)
        if not units:
            self._quiet.setdefault(run_id, deque(maxlen=_REMEMBERED)).append(batch.duration_s)
        elif usual_s is not None and not cold:
            load_s = max(_LEAST_S, (batch.duration_s - usual_s) / units)
            self._loads.setdefault(run_id, deque(maxlen=_REMEMBERED)).append(load_s)

    def keep(self, running: Collection[str]) -> None:
        """Forget the runs that have ended."""
        for known in (self._quiet, self._loads, self._sent, self._noted):
            for run_id in known.keys() - set(running):
                del known[run_id]

    def batch_s(self, run_id: str) -> float | None:
        """Return the usual batch of a query; None before the first."""
        quiet = self._quiet.get(run_id)
        return median(quiet) if quiet else None

    def pauses_s(self, trigger_s: Mapping[str, float]) -> dict[str, float]:
        """Return how long each query usually pauses between two batches, by its trigger interval;
        none of a query without a batch.
        """
        usual = {run_id: self.batch_s(run_id) for run_id in trigger_s}
        return {
            run_id: max(0.0, trigger_s[run_id] - batch_s)
            for run_id, batch_s in usual.items()
            if batch_s is not None
        }

    def slack_and_load_s(
        self, objective_s: float, growing: bool, cold: bool
    ) -> tuple[float | None, float | None]:
        """Return the least slack and the greatest load time of all queries; None for what is not
        known yet.

        With ``cold``, an executor waits for its first partition: that has a batch to itself, so the
        load is the whole slack.
        """
        usual = [median(quiet) for quiet in self._quiet.values()]
        loads = [median(loads) for loads in self._loads.values()]
        slack = min((slack_s(batch_s, objective_s, growing) for batch_s in usual), default=None)
        if slack is None or not loads:
            return slack, None
        return slack, max(*loads, slack) if cold else max(loads)
