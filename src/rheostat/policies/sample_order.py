"""Samples that come late: an observation that is older than the last one is absent."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from rheostat.model import Decision, Memory, Observation, hold

LATE_S = 120.0
"""An observation that is older than the last one by more is not late: the clock was put back."""

Decide = Callable[[Any, Observation, Memory], tuple[Decision, Memory]]


def in_order(decide: Decide) -> Decide:
    """Let a policy's ``decide`` see times that rise only: a late or reordered observation keeps the
    size and teaches nothing.

    The newest time is remembered as ``newest_s``. A clock that was put back by more than ``LATE_S``
    is followed.
    """

    @wraps(decide)
    def decide_in_order(
        self: Any, observation: Observation, memory: Memory
    ) -> tuple[Decision, Memory]:
        newest_s = memory.get("newest_s", observation.t_s)
        # The memory stays as it is: a late sample must not make the newest one look old.
        if 0 < newest_s - observation.t_s <= LATE_S:
            return (
                hold(
                    observation,
                    f"size kept: the observation is {newest_s - observation.t_s:.0f} s older than"
                    " the last one",
                ),
                memory,
            )
        decision, kept = decide(self, observation, memory)
        return decision, {**kept, "newest_s": observation.t_s}

    return decide_in_order
