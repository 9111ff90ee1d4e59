"""The numbers behind a decision, as the journal keeps them."""

from __future__ import annotations

import math
from typing import Any

from rheostat.capacity.need import closed_form, row_work_s
from rheostat.policies.foresight.situation import Situation
from rheostat.signals.forecasts.forecast import HORIZONS_S


def decision_evidence(at: Situation, late_share_ahead: float) -> dict[str, Any]:
    """Return forecast, need and capacity for when executors that are asked for now would come."""
    place = min(
        range(len(HORIZONS_S)), key=lambda i: abs(HORIZONS_S[i] - at.cost.start_s - at.tick_s)
    )
    rates = [path[place + 1] for path in (at.coming.p50, at.coming.p90, at.coming.p99)]
    slots = closed_form(at.model.model, rates[1], at.aim_s, at.trigger_s)
    return {
        "forecast_rows_per_s_p50": rates[0],
        "forecast_rows_per_s_p90": rates[1],
        "forecast_rows_per_s_p99": rates[2],
        "needed": None if slots is None else math.ceil(slots / at.slots),
        "capacity_rows_per_s": at.sustained(at.size),
        "late_share_ahead": late_share_ahead,
        "start_s": at.cost.start_s,
        "spread": at.model.spread,
        "fixed_s": at.model.model.fixed_s,
        "row_slot_s": row_work_s(at.model.model),
    }
