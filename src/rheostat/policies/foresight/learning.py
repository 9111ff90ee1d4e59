"""What is remembered of a job from look to look: its rates, its batches, and what sizes cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rheostat.capacity.identify import identified, with_batch
from rheostat.capacity.rescale_cost import (
    during_start,
    with_cold_batch,
    with_first_start,
    with_late,
    with_load,
    with_settled,
    with_sight,
)
from rheostat.model import Memory, Observation
from rheostat.policies.foresight.gain import with_batch_gain
from rheostat.policies.foresight.late_rows import late_by
from rheostat.policies.foresight.situation import OVERDUE
from rheostat.policies.foresight.waiting import rows_limit
from rheostat.signals.forecasts.forecast import HORIZONS_S
from rheostat.signals.forecasts.period import period_s
from rheostat.signals.forecasts.rate_history import Rates, with_rate
from rheostat.signals.forecasts.weighted_experts import refit

_TICK_S = 5.0
"""Between two looks, before there were two."""

_MAJORITY_SHARE = 0.5
"""A batch of whose time executors started for so much tells what their start takes from it."""


def learnt(
    now: Observation, memory: Memory, slo_s: float, given_s: float = 0.0
) -> tuple[dict[str, Any], Rates | None]:
    """Return what is remembered after this look, JSON values only, and the history of rates; None
    where the rate is not known. ``slo_s`` is the objective, ``given_s`` the period of
    the load; 0: it is looked for.
    """
    state: dict[str, Any] = {**memory, "tick_s": _tick_s(now, memory)}
    rates = None
    if now.input_rows_per_s is not None:
        history, rates = _rates(now, memory, given_s)
        state |= history
    if now.executors:
        state |= _sizes(now, memory)
        state |= _batch(now, memory, state, slo_s)
        state["rows_limit"] = rows_limit(now, memory.get("rows_limit"))
    return state, rates


def _tick_s(now: Observation, memory: Memory) -> float:
    tick_s: float = memory.get("tick_s", _TICK_S)
    since_s = now.t_s - memory.get("newest_s", now.t_s)
    return tick_s + 0.2 * (since_s - tick_s) if 0 < since_s < 120 else tick_s


def _rates(now: Observation, memory: Memory, given_s: float) -> tuple[dict[str, Any], Rates]:
    """Return the history with the rate of now, and the fit of one horizon after the other; after
    the last the period is looked for. Without a new mean there is nothing new to read.
    """
    before: Mapping[str, Any] = memory.get("rates", {})
    history = with_rate(before, now.t_s, now.input_rows_per_s or 0.0)
    turn, fits, own_s = memory.get("turn", 0), memory.get("fits", {}), memory.get("period_s")
    rates = Rates(history, given_s or own_s)
    if history["fine"]["means"] is not before.get("fine", {}).get("means"):
        if turn < len(HORIZONS_S):
            fits = refit(rates, fits, turn)
        else:
            own_s = given_s or period_s(rates)
            rates.repeats(own_s)
        turn = (turn + 1) % (len(HORIZONS_S) + 1)
    learned = {
        "rates": history,
        "rate_before": before.get("rate"),
        "fits": fits,
        "period_s": given_s or own_s,
        "turn": turn,
        "unknown": rates.unknown,
    }
    return learned, rates


def _sizes(now: Observation, memory: Memory) -> dict[str, Any]:
    """Return how long executors take, when the size changed, what it was at first, and the ceiling
    as far as it shows.
    """
    size, executors = now.size or 1, now.executors or 1
    before_size, requested = memory.get("asked") or (None, size)
    ceiling = memory.get("ceiling")
    if before_size is not None and before_size < size < requested:
        ceiling = size
    if ceiling is not None and size > ceiling:
        ceiling = None
    rescale = with_sight(memory.get("rescale", {}), now.t_s, size, executors)
    learned = {
        "ceiling": ceiling,
        "first_size": memory.get("first_size", size),
        "rescale": with_first_start(rescale, now.first_start_s or 0.0),
        "executors": executors,
    }
    began_s = now.t_s - now.in_flight.elapsed_s if now.in_flight else now.t_s
    if now.in_flight is None or abs(began_s - memory.get("began_s", math.inf)) > 0.5:
        learned |= {"began_s": began_s, "running_on": executors}
    else:
        learned["running_on"] = memory.get("running_on", executors)
    if executors != memory.get("executors", executors):
        learned |= {"changed_s": now.t_s, "cold": executors > memory["executors"]}
    return learned


def _batch(
    now: Observation, memory: Memory, state: Mapping[str, Any], slo_s: float
) -> dict[str, Any]:
    """Return what a batch that is new has taught; one that began before the size had settled
    teaches only what new executors cost.
    """
    batch = [now.batch_s, now.batch_rows]
    if batch == memory.get("batch") or not now.batch_s or not now.batch_rows:
        return {}
    slots = (now.executors or 1) * (now.slots_per_executor or 1)
    every_s = max(now.batch_s, now.trigger_s or 0.0)
    began_s = now.t_s - (now.in_flight.elapsed_s + every_s if now.in_flight else now.batch_s)
    changed_s = min(state.get("changed_s", -math.inf), now.t_s)
    batches = memory.get("batches", {})
    reading = [[stage.name, stage.rows_in, stage.busy_s] for stage in now.stages or ()]
    fresh = reading != memory.get("reading")
    learned: dict[str, Any] = {"batch": batch, "reading": reading}
    known = identified(batches)
    settled = began_s >= changed_s + 2 * every_s + 1.0
    starting = during_start(state["rescale"], began_s, began_s + now.batch_s)
    expected_s = known.model.batch_s(now.batch_rows, slots) if known else now.batch_s
    learned["longer_s"] = max(0.0, now.batch_s - expected_s)
    learned["overran"] = now.batch_s > OVERDUE * expected_s
    if settled:
        learned["rescale"] = with_settled(state["rescale"])
        if known and starting >= _MAJORITY_SHARE:  # before it had settled cold ones are in it, too
            learned["rescale"] = with_load(learned["rescale"], now.batch_s / max(expected_s, 1e-3))
        learned["batches"] = with_batch(
            batches, now.batch_s, now.batch_rows, slots, now.stages, fresh
        )
        learned["trial"] = with_batch_gain(memory.get("trial", {}), now)
    elif known and began_s + now.batch_s >= changed_s:
        # its rows waited for the batch before, which may have been longer, too
        late_s = late_by(now, learned["longer_s"] + memory.get("longer_s", 0.0), slo_s)
        learned["rescale"] = with_late(state["rescale"], late_s)
        if state.get("cold"):
            longer_s = now.batch_s - expected_s
            learned |= {"rescale": with_cold_batch(learned["rescale"], longer_s), "cold": False}
    return learned
