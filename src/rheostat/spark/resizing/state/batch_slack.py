"""How much time a batch has left for loading state, and what the loading of one partition takes:
measured, not assumed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from statistics import median

from rheostat.signals.rhythm import Rhythm

OUT_SHARE, IN_SHARE = 0.4, 0.2
"""What a move may add to a batch, in batches: below the half and the quarter that nobody should
notice."""

_REMEMBERED = 9
_LEAST_S = 0.08
"""What is reckoned for a partition at least: batches differ by more than a small one takes, and
moves that are spread cost little."""


def slack_s(batch_s: float, slo_s: float, growing: bool) -> float:
    """Return the seconds that state may load in a batch: a share of the usual batch, and never more
    than the objective leaves.
    """
    return max(0.0, min(slo_s - batch_s, (OUT_SHARE if growing else IN_SHARE) * batch_s))


class Loads:
    """Learns, for each query, the time to load a partition: what a batch with a move took beyond
    the usual one.
    """

    def __init__(self) -> None:
        self._rhythms: dict[str, Rhythm] = {}
        self._loads: dict[str, deque[float]] = {}
        self._sent: dict[str, tuple[int, bool]] = {}

    def sent(self, run_id: str, units: int, cold: bool) -> None:
        """Note what was sent at a boundary: the most partitions for one executor, and whether an
        executor got its first.

        The batch of a cold executor tells nothing of loading: it loads classes.
        """
        self._sent[run_id] = (units, cold)

    def note(self, run_id: str, rhythm: Rhythm) -> None:
        """Take a query's rhythm after its last batch."""
        known = self._rhythms.get(run_id)
        if rhythm.last is None or (known and known.last == rhythm.last):
            return
        self._rhythms[run_id] = rhythm
        # Taken off whatever the batch tells: only the first batch after a move loads the state.
        units, cold = self._sent.pop(run_id, (0, False))
        usual_s = rhythm.usual_batch_s
        if units and usual_s is not None and not cold:
            load_s = max(_LEAST_S, (rhythm.last.duration_s - usual_s) / units)
            self._loads.setdefault(run_id, deque(maxlen=_REMEMBERED)).append(load_s)

    def keep(self, running: Collection[str]) -> None:
        """Forget the runs that have ended."""
        for known in (self._rhythms, self._loads, self._sent):
            for run_id in known.keys() - set(running):
                del known[run_id]

    def next_end_s(self) -> float | None:
        """Return when a batch of any query may end at the earliest, in Unix seconds; None where
        nobody knows.
        """
        # A copy, because the thread that waits asks this while another may take a rhythm.
        ends_s = [rhythm.next_commit_s for rhythm in list(self._rhythms.values())]
        return min((end_s for end_s in ends_s if end_s is not None), default=None)

    def slack_and_load_s(
        self, slo_s: float, growing: bool, cold: bool
    ) -> tuple[float | None, float | None]:
        """Return the least slack and the greatest load time of all queries; None for what is not
        known yet.

        With ``cold``, an executor waits for its first partition: that has a batch to itself, so the
        load is the whole slack.
        """
        usual = [
            batch_s
            for rhythm in self._rhythms.values()
            if (batch_s := rhythm.usual_batch_s) is not None
        ]
        loads = [median(loads) for loads in self._loads.values()]
        # The queries share the executors and a move is felt by all of them, so the tightest one
        # decides.
        slack = min((slack_s(batch_s, slo_s, growing) for batch_s in usual), default=None)
        if slack is None or not loads:
            # Without one measured load the caller sends a single unit, and learns from it.
            return slack, None
        return slack, max(*loads, slack) if cold else max(loads)
