"""The number of executors over time: registered, and paid for."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from rheostat_lab.report.finished_run import ExecutorLife, Run


@dataclass(frozen=True, slots=True)
class Steps:
    """A number over time: ``counts[i]`` applies from ``times_s[i]`` to ``times_s[i + 1]``, so there
    is one more time than counts.
    """

    times_s: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def integral_s(self) -> float:
        """The sum of count x seconds."""
        return sum(
            count * (late - early)
            for count, (early, late) in zip(
                self.counts, itertools.pairwise(self.times_s), strict=True
            )
        )

    @property
    def mean(self) -> float:
        """The mean over time."""
        return self.integral_s / (self.times_s[-1] - self.times_s[0])


def registered(run: Run) -> Steps:
    """Return the registered executors from the run's start to its end."""
    return _steps(run, [(life.registered_s, _gone_s(run, life)) for life in run.executors])


def paid(run: Run) -> Steps:
    """Return the executors that are paid for, from the accepted request to the process end."""
    return _steps(run, [(_requested_s(life), _gone_s(run, life)) for life in run.executors])


def _requested_s(life: ExecutorLife) -> float:
    return (
        # A request that is reported late must not make an executor cheaper than its lifetime.
        life.registered_s if life.requested_s is None else min(life.requested_s, life.registered_s)
    )


def _gone_s(run: Run, life: ExecutorLife) -> float:
    return run.end_s if life.removed_s is None else life.removed_s


def _steps(run: Run, spans: Sequence[tuple[float, float]]) -> Steps:
    # Only the measured time, because an executor may exist before and after the load.
    inside = [(max(run.start_s, low), min(run.end_s, high)) for low, high in spans]
    inside = [(low, high) for low, high in inside if high > low]
    times_s = sorted({run.start_s, run.end_s, *itertools.chain.from_iterable(inside)})
    counts = [sum(low <= early < high for low, high in inside) for early in times_s[:-1]]
    return Steps(tuple(times_s), tuple(counts))
