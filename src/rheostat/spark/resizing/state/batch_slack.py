"""Measures how much time a batch leaves for loading state, and the load time of one partition."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from statistics import median

from rheostat.signals.rhythm import Rhythm

OUT_SHARE, IN_SHARE = 0.4, 0.2
"""The share of a batch that a move may add when scaling out and in: below one half and one quarter,
which would be noticeable."""

_REMEMBERED = 9
_LEAST_S = 0.08
"""The minimum load time per partition: batches vary by more than a small load takes, and spreading
moves costs little."""


def slack_s(batch_s: float, slo_s: float, growing: bool) -> float:
    """Return the seconds that a batch leaves for loading state: a share of the usual batch, limited
    by the objective.
    """
    return max(0.0, min(slo_s - batch_s, (OUT_SHARE if growing else IN_SHARE) * batch_s))


class Loads:
    """Learns each query's load time per partition: the excess of a batch with a move over the usual
    batch.
    """

    def __init__(self) -> None:
        self._rhythms: dict[str, Rhythm] = {}
        self._loads: dict[str, deque[float]] = {}
        self._sent: dict[str, tuple[int, bool]] = {}

    def sent(self, run_id: str, units: int, cold: bool) -> None:
        """Record what was sent at a boundary: the maximum number of partitions for one executor,
        and whether an executor got its first.

        The batch of a cold executor does not measure loading because it also loads classes.
        """
        self._sent[run_id] = (units, cold)

    def note(self, run_id: str, rhythm: Rhythm) -> None:
        """Take a query's rhythm after its last batch."""
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
        """Return the earliest likely end of a batch of any query in Unix seconds; None if it is
        unknown.
        """
        # A copy, because the polling thread calls this while another may add a rhythm.
        ends_s = [rhythm.next_commit_s for rhythm in list(self._rhythms.values())]
        return min((end_s for end_s in ends_s if end_s is not None), default=None)

    def slack_and_load_s(
        self, slo_s: float, growing: bool, cold: bool
    ) -> tuple[float | None, float | None]:
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
        slack = min((slack_s(batch_s, slo_s, growing) for batch_s in usual), default=None)
        if slack is None or not loads:
            # Without a measured load the caller sends a single unit, and learns from it.
            return slack, None
        return slack, max(*loads, slack) if cold else max(loads)
