"""The time and size of the last executed change of the size in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rheostat.model import Memory, Observation
from rheostat.signals.lag import queued_rows
from rheostat.signals.statistics.windows import at_most_quantile
from rheostat.signals.true_rates import is_known


def learn_downtimes(
    observation: Observation, memory: Mapping[str, Any], settle_s: float, keep: int
) -> dict[str, Any]:
    """Return the memory after this tick: ``downtimes_s`` (the last ``keep``) and the open
    disturbance.

    A change of size opens a disturbance. The growth of the lag within ``settle_s``, in seconds of
    arrivals, is its downtime (Varga et al., section 5.3: only its distribution can be known).
    """
    now, lag = observation.t_s, queued_rows(observation)
    rate, executors = observation.input_rows_per_s, observation.executors
    known, open_ = list(memory.get("downtimes_s", ())), memory.get("disturbance")
    # The disturbance is over, or the clock was set back; only the former gives a downtime.
    if open_ and not 0 <= now - open_["since_s"] < settle_s:
        if now >= open_["since_s"]:
            known = [*known, open_["most_s"]][-keep:]
        open_ = None
    before = memory.get("executors", executors)
    if executors is not None and before is not None and executors != before:
        if open_:
            # The next change cuts a disturbance short: its cost so far is a lower bound.
            known = [*known, open_["most_s"]][-keep:]
        open_ = None
        if memory.get("lag_rows") is not None:
            open_ = {"since_s": now, "lag_rows": memory["lag_rows"], "most_s": 0.0}
    if open_ and is_known(lag) and is_known(rate) and rate:
        open_ = {**open_, "most_s": max(open_["most_s"], (lag - open_["lag_rows"]) / rate)}
    return {
        "downtimes_s": known,
        "disturbance": open_,
        "executors": executors if executors is not None else before,
        "lag_rows": lag if is_known(lag) else memory.get("lag_rows"),
    }


def predicted_downtime_s(memory: Mapping[str, Any], quantile: float, first_s: float) -> float:
    """Return the quantile of the measured downtimes in seconds; ``first_s`` before the first."""
    downtimes_s = memory.get("downtimes_s") or [first_s]
    return at_most_quantile(downtimes_s, quantile)


def resized(observation: Observation, memory: Memory) -> tuple[float, int]:
    """Return (time, change) of a change of size since the observation stored as ``seen``, otherwise
    (now, 0).

    The time is that of the earlier observation, on which the change was decided.
    """
    before, size = memory.get("seen"), observation.size
    # An unknown size is not a change; the first known one would otherwise count as a resize.
    if before is None or size is None or before[1] is None or size == before[1]:
        return observation.t_s, 0
    # After a clock was set back, the earlier observation appears to be in the future.
    return min(before[0], observation.t_s), size - before[1]


def latest_size(observation: Observation) -> tuple[float, int | None]:
    """Return (time, size), which ``resized`` expects under the key ``seen``."""
    return observation.t_s, observation.size
