"""Late samples: an observation older than the last one is treated as absent."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from rheostat.model import Decision, Memory, Observation, hold

LATE_S = 120.0
"""Seconds; an observation that is older by more than this is not late: the clock was set back."""

Decide = Callable[[Any, Observation, Memory], tuple[Decision, Memory]]


def in_order(decide: Decide) -> Decide:
    """Pass only increasing times to a policy's ``decide``: a late observation keeps the size and
    leaves the memory unchanged.

    The newest time is stored as ``newest_s``. A clock that was set back by more than ``LATE_S`` is
    accepted.
    """

    @wraps(decide)
    def decide_in_order(
        self: Any, observation: Observation, memory: Memory
    ) -> tuple[Decision, Memory]:
        newest_s = memory.get("newest_s", observation.t_s)
        # The memory stays unchanged, because ``newest_s`` must not fall to the time of a late
        # sample.
        late_s = newest_s - observation.t_s
        if 0 < late_s <= LATE_S:
            why = f"size kept: the observation is {late_s:.0f} s older than the last one"
            return hold(observation, why), memory
        decision, kept = decide(self, observation, memory)
        return decision, {**kept, "newest_s": observation.t_s}

    return decide_in_order
