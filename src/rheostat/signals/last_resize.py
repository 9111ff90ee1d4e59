"""When the size in force changed last, and by how much: executed changes, not requested ones."""

from __future__ import annotations

from rheostat.model import Memory, Observation


def resized(observation: Observation, memory: Memory) -> tuple[float, int]:
    """Return (time, change) of a change of size since the observation kept as ``seen``, else (now,
    0).

    The time is that of the earlier observation, on which the change was decided.
    """
    before, size = memory.get("seen"), observation.size
    # An unknown size is no change: the first one that is known would else count as a resize.
    if before is None or size is None or before[1] is None or size == before[1]:
        return observation.t_s, 0
    # After a clock was put back, the earlier observation seems to lie in the future.
    return min(before[0], observation.t_s), size - before[1]


def latest_size(observation: Observation) -> tuple[float, int | None]:
    """Return (time, size), which ``resized`` expects under the key ``seen``."""
    return observation.t_s, observation.size
