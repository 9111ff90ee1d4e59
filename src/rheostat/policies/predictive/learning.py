"""Update of the state by an observation: arrival rate, last batch, late rows, cost of rescales."""

from __future__ import annotations

import math
from dataclasses import replace

from rheostat.model import Observation
from rheostat.policies.predictive.state import State
from rheostat.signals.forecasts.forecast import HORIZONS_S, refit
from rheostat.signals.forecasts.period import period_s
from rheostat.signals.forecasts.rate_history import HOUR_S, Rates, with_rate
from rheostat.signals.lag import is_rows_limited, queued_rows
from rheostat.tuning import TUNING, Tuning

WINDOW_S = 300.0
"""The objective holds for all rows, and less strictly for those of each five minutes."""


def updated(
    now: Observation, state: State, slo_s: float, given_s: float = 0.0, tuning: Tuning = TUNING
) -> tuple[State, Rates | None]:
    """Return the state after an observation, and the history of rates; None if the rate is unknown.

    ``slo_s`` is the objective, ``given_s`` the configured period of the load, or 0 to detect it.
    """
    rates, since_s = None, now.t_s - (now.t_s if state.newest_s is None else state.newest_s)
    learned = with_late_rows(state, now, slo_s)
    if 0 < since_s < WINDOW_S:  # not after a gap
        tick_s = state.tick_s + tuning.batch_weight * (since_s - state.tick_s)
        learned = replace(learned, tick_s=tick_s)
    if now.input_rows_per_s is not None:
        learned, rates = _with_rate(now, learned, given_s, tuning)
    if now.executors:
        learned = _with_batch(now, _with_sizes(now, learned, tuning), tuning)
        learned = replace(learned, rows_limit=rows_limit(now, state.rows_limit, tuning))
    return replace(learned, newest_s=now.t_s), rates


def _with_rate(
    now: Observation, state: State, given_s: float, tuning: Tuning
) -> tuple[State, Rates]:
    """Fit one horizon, or after the last one detect the period, with each new mean of 5 s."""
    history = with_rate(state.rates, now.t_s, now.input_rows_per_s or 0.0)
    learned = replace(state, rates=history, period_s=given_s or state.period_s)
    rates = Rates(history, learned.period_s, tuning)
    if history.fine.means is not state.rates.fine.means:
        if state.turn < len(HORIZONS_S):
            learned = replace(learned, fits=refit(rates, state.fits, state.turn))
        else:
            learned = replace(learned, period_s=given_s or period_s(rates))
            rates = Rates(history, learned.period_s, tuning)
        learned = replace(learned, turn=(state.turn + 1) % (len(HORIZONS_S) + 1))
    return learned, rates


def _with_sizes(now: Observation, state: State, tuning: Tuning) -> State:
    """Learn start times, the time of the last rescale, and the ceiling if a request ended below its
    target.
    """
    size, executors, before = now.size or 1, now.executors or 1, state.rescale
    ceiling = state.ceiling
    if before.executors and before.target < size < (state.target_before or size):
        ceiling = size
    if ceiling is not None and size > ceiling:
        ceiling = None
    rescale = before.observe(now.t_s, size, executors, tuning)
    learned = replace(
        state,
        ceiling=ceiling,
        first_size=state.first_size or size,
        rescale=rescale.with_first_start(now.first_start_s or 0.0, tuning),
    )
    if before.executors in (0, executors):
        return learned
    return replace(learned, changed_s=now.t_s, is_cold=executors > before.executors)


def _with_batch(now: Observation, state: State, tuning: Tuning) -> State:
    """Learn from a new batch; one that began before a rescale had completed shows only its cost."""
    is_known = (now.batch_s, now.batch_rows) == (state.batch_s, state.batch_rows)
    if is_known or not now.batch_s or not now.batch_rows:
        return state
    slots = (now.executors or 1) * (now.slots_per_executor or 1)
    every_s = max(now.batch_s, now.trigger_s or 0.0)
    began_s = now.t_s - (now.in_flight.elapsed_s + every_s if now.in_flight else now.batch_s)
    changed_s = min(-math.inf if state.changed_s is None else state.changed_s, now.t_s)
    reading = [[stage.name, stage.rows_in, stage.busy_s] for stage in now.stages or ()]
    learned = replace(state, batch_s=now.batch_s, batch_rows=now.batch_rows, reading=reading)
    if began_s >= changed_s + 2 * every_s + 1.0:
        fresh = reading != state.reading
        batches = state.batches.with_batch(
            now.batch_s, now.batch_rows, slots, now.stages, fresh, tuning
        )
        return replace(learned, batches=batches)
    known = state.batches.identified(tuning)
    if not known or not state.is_cold or began_s + now.batch_s < changed_s:
        return learned
    longer_s = now.batch_s - known.model.batch_s(now.batch_rows, slots)
    return replace(learned, rescale=state.rescale.with_cold_batch(longer_s, tuning), is_cold=False)


def with_late_rows(state: State, now: Observation, slo_s: float) -> State:
    """Return the state with the rows since the last observation, counted as late by the latency of
    the last batch; of a gap only the last minute counts.
    """
    gone_s = 0.0 if state.newest_s is None else now.t_s - state.newest_s
    since_s = min(max(0.0, gone_s), 60.0)
    rows = (now.input_rows_per_s or 0.0) * since_s
    late = rows * _late_share(now, slo_s)
    return replace(
        state,
        hour=state.hour.with_rows(rows, late, math.exp(-since_s / HOUR_S)),
        window=state.window.with_rows(rows, late, math.exp(-since_s / WINDOW_S)),
    )


def rows_limit(now: Observation, known: int | None = None, tuning: Tuning = TUNING) -> int | None:
    """Return the detected limit of rows per batch; None without a sign of one.

    A limit shows in two batches of equal size, the last of which left more than another one behind.
    Between two batches the ``known`` limit holds while the backlog is as large.
    """
    running, queued, before = now.in_flight, queued_rows(now), now.batch_rows
    if not before or queued is None:
        return None
    if running is None or not running.rows:
        return known if known and is_rows_limited(known, known, queued, tuning) else None
    left = queued - running.rows - (now.input_rows_per_s or 0.0) * running.elapsed_s
    return running.rows if is_rows_limited(running.rows, before, left, tuning) else None


def _late_share(now: Observation, slo_s: float) -> float:
    if now.latency_s is None or not now.batch_rows or not now.input_rows_per_s:
        return 0.0
    spread_s = max(now.batch_rows / now.input_rows_per_s, 1e-3)
    return min(1.0, max(0.0, (now.latency_s + spread_s / 2 - slo_s) / spread_s))
