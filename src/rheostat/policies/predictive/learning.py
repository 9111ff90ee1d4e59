"""Update of the state by an observation: arrival rate, last batch, cost of rescales."""

from __future__ import annotations

import math
from dataclasses import replace

from rheostat.capacity.identify import identified, with_batch
from rheostat.model import Observation
from rheostat.policies.predictive.backlog import rows_limit
from rheostat.policies.predictive.error_budget import with_late_rows
from rheostat.policies.predictive.state import State
from rheostat.signals.forecasts.forecast import HORIZONS_S
from rheostat.signals.forecasts.period import period_s
from rheostat.signals.forecasts.rate_history import Rates, with_rate
from rheostat.signals.forecasts.weighted_experts import refit

_TICK_SHARE = 0.2
"""Weight of the newest interval between two decisions in its mean."""


def learnt(
    now: Observation, state: State, slo_s: float, given_s: float = 0.0
) -> tuple[State, Rates | None]:
    """Return the state after an observation, and the history of rates; None if the rate is unknown.

    ``slo_s`` is the objective, ``given_s`` the configured period of the load, or 0 to detect it.
    """
    rates, since_s = None, now.t_s - (now.t_s if state.newest_s is None else state.newest_s)
    learned = with_late_rows(state, now, slo_s)
    if 0 < since_s < 120:
        tick_s = state.tick_s + _TICK_SHARE * (since_s - state.tick_s)
        learned = replace(learned, tick_s=tick_s)
    if now.input_rows_per_s is not None:
        learned, rates = _with_rate(now, learned, given_s)
    if now.executors:
        learned = _with_batch(now, _with_sizes(now, learned))
        learned = replace(learned, rows_limit=rows_limit(now, state.rows_limit))
    return replace(learned, newest_s=now.t_s), rates


def _with_rate(now: Observation, state: State, given_s: float) -> tuple[State, Rates]:
    """Fit one horizon, or after the last one detect the period, with each new mean of 5 s."""
    before = state.rates
    history = with_rate(before, now.t_s, now.input_rows_per_s or 0.0)
    turn, fits, own_s = state.turn, state.fits, state.period_s
    rates = Rates(history, given_s or own_s)
    if history.fine.means is not before.fine.means:
        if turn < len(HORIZONS_S):
            fits = refit(rates, fits, turn)
        else:
            own_s = given_s or period_s(rates)
            rates.repeats(own_s)
        turn = (turn + 1) % (len(HORIZONS_S) + 1)
    learned = replace(
        state,
        rates=history,
        fits=fits,
        period_s=given_s or own_s,
        turn=turn,
    )
    return learned, rates


def _with_sizes(now: Observation, state: State) -> State:
    """Learn start times, the time of the last rescale, and the ceiling if a request ended below its
    target.
    """
    size, executors = now.size or 1, now.executors or 1
    ceiling, before, target = state.ceiling, state.size_before, state.target_before
    if before is not None and before < size < (target or size):
        ceiling = size
    if ceiling is not None and size > ceiling:
        ceiling = None
    rescale = state.rescale.observe(now.t_s, size, executors)
    learned = replace(
        state,
        ceiling=ceiling,
        first_size=state.first_size or size,
        rescale=rescale.with_first_start(now.first_start_s or 0.0),
        executors=executors,
    )
    if state.executors is None or executors == state.executors:
        return learned
    return replace(learned, changed_s=now.t_s, is_cold=executors > state.executors)


def _with_batch(now: Observation, state: State) -> State:
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
        batches = with_batch(state.batches, now.batch_s, now.batch_rows, slots, now.stages, fresh)
        return replace(learned, batches=batches)
    known = identified(state.batches)
    if not known or not state.is_cold or began_s + now.batch_s < changed_s:
        return learned
    longer_s = now.batch_s - known.model.batch_s(now.batch_rows, slots)
    return replace(learned, rescale=state.rescale.with_cold_batch(longer_s), is_cold=False)
