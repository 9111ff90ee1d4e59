"""The error budget: late rows of the last hour and of the last five minutes, and what is left."""

from __future__ import annotations

import math
from dataclasses import replace

from rheostat.model import Observation
from rheostat.policies.predictive.state import State
from rheostat.policies.predictive.tuning import Tuning

HOUR_S, WINDOW_S = 3600.0, 300.0
_GAP_S = 60.0


def with_late_rows(state: State, now: Observation, slo_s: float) -> State:
    """Return the state with the rows since the last observation, counted as late by the latency of
    the last batch; of a gap only the last minute counts.
    """
    gone_s = 0.0 if state.newest_s is None else now.t_s - state.newest_s
    since_s = min(max(0.0, gone_s), _GAP_S)
    rows = (now.input_rows_per_s or 0.0) * since_s
    late = rows * _late_share(now, slo_s)
    hour, window = math.exp(-since_s / HOUR_S), math.exp(-since_s / WINDOW_S)
    return replace(
        state,
        hour_rows=hour * state.hour_rows + rows,
        hour_late_rows=hour * state.hour_late_rows + late,
        window_rows=window * state.window_rows + rows,
        window_late_rows=window * state.window_late_rows + late,
    )


def error_budget(state: State, tuning: Tuning) -> tuple[float, float]:
    """Return the shares of rows that may still be late: in the long run, and in five minutes.

    The first five minutes of a job are most of its rows; their budget is little more than the
    long-run one.
    """
    hour = state.hour_late_rows / state.hour_rows if state.hour_rows > 0 else 0.0
    window = state.window_late_rows / state.window_rows if state.window_rows > 0 else 0.0
    young = state.hour_rows / state.window_rows if state.window_rows > 0 else 1.0
    in_window = min(tuning.late_share_window, tuning.late_share * young)
    return max(0.0, tuning.late_share - hour), max(0.0, in_window - window)


def _late_share(now: Observation, slo_s: float) -> float:
    if now.latency_s is None or not now.batch_rows or not now.input_rows_per_s:
        return 0.0
    spread_s = max(now.batch_rows / now.input_rows_per_s, 1e-3)
    return min(1.0, max(0.0, (now.latency_s + spread_s / 2 - slo_s) / spread_s))
