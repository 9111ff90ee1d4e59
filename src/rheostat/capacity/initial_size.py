"""The number of executors that an application starts with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from rheostat.model import Limits, Observation
from rheostat.plural import counted

LAST_SIZE_AGE_S = 86_400.0
"""A last size that is older is ignored: loads repeat daily, and after a longer pause the backlog
says more than the size did."""

_LARGEST_BATCHES = 4
"""One in so many batches, the largest ones, shows the capacity: small batches mostly consist of
fixed cost, and a backlog is processed in large ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFacts:
    """What is known about an application before its first batch; None where it is unknown."""

    configured: int = 1
    """Executors that the user configured."""

    last_size: int | None = None
    """Executors that were in force when the previous run ended."""

    last_age_s: float = 0.0
    """Seconds since then."""

    backlog_rows: float | None = None
    """Latest offsets of the broker minus committed offsets of the checkpoint."""

    capacity_rows_per_s: float | None = None
    """Rows per second that one executor processed in earlier runs."""


@dataclass(frozen=True, slots=True)
class InitialSize:
    """The executors to start with, and why."""

    executors: int
    reason: str


def initial_size(facts: StartFacts, limits: Limits, slo_s: float) -> InitialSize:
    """Return the largest of the configured size, the last size and the size that the backlog needs,
    within ``limits``.

    The last size counts for ``LAST_SIZE_AGE_S``; the backlog needs the size that processes it
    within the latency objective of ``slo_s`` seconds.
    """
    sizes = dict(_candidates(facts, slo_s))
    wanted = max(sizes)
    executors = min(max(wanted, limits.min_executors), limits.max_executors)
    reason = sizes[wanted]
    if executors != wanted:
        bound = "ceiling" if executors < wanted else "floor"
        reason = f"{reason}; the {bound} is {executors}"
    return InitialSize(executors, reason)


def backlog_size(backlog_rows: float, capacity_rows_per_s: float, slo_s: float) -> int:
    """Return the executors that process a backlog within ``slo_s`` seconds."""
    return math.ceil(backlog_rows / (capacity_rows_per_s * slo_s))


def capacity_rows_per_s(observations: Iterable[Observation]) -> float | None:
    """Return the rows per second that one executor processed in the largest batches; None where no
    batch was observed.
    """
    batches: Mapping[tuple[float, int], float] = {
        (batch.batch_s, batch.batch_rows): batch.batch_rows / (batch.batch_s * batch.executors)
        for batch in observations
        if batch.batch_s and batch.batch_rows and batch.executors
    }
    largest = sorted(batches, key=lambda batch: batch[1], reverse=True)
    rates = [batches[batch] for batch in largest[: math.ceil(len(largest) / _LARGEST_BATCHES)]]
    return median(rates) if rates else None


def _candidates(facts: StartFacts, slo_s: float) -> Iterable[tuple[int, str]]:
    # Of two equal sizes the later reason replaces the earlier one: it is the more specific one.
    yield facts.configured, f"{counted(facts.configured, 'executor')} configured"
    if facts.last_size is not None and facts.last_age_s <= LAST_SIZE_AGE_S:
        age = f"{max(0.0, facts.last_age_s):,.0f} s ago"
        executors = counted(facts.last_size, "executor")
        yield facts.last_size, f"the previous run ended {age} with {executors}"
    if facts.backlog_rows and facts.capacity_rows_per_s:
        size = backlog_size(facts.backlog_rows, facts.capacity_rows_per_s, slo_s)
        yield (
            size,
            f"the backlog of {facts.backlog_rows:,.0f} rows needs {counted(size, 'executor')} to be"
            f" processed within {slo_s:g} s",
        )
