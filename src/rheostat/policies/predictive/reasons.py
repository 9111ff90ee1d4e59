"""Reason and evidence of a decision: the costs that were compared, and the scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rheostat.plural import counted
from rheostat.policies.predictive.scenarios import rare_surges
from rheostat.policies.predictive.situation import LateShares, Situation
from rheostat.signals.forecasts.forecast import HORIZONS_S, Path


class Compared(NamedTuple):
    """A size, its late rows on the deciding path, and the expected late rows in surges over those
    that arrive at the present rate.
    """

    executors: int
    late_rows: float
    surge_late_share: float = 0.0


def compared(
    at: Situation,
    costs: Sequence[Compared],
    within_s: float,
    evidence: dict[str, Any],
    counted_rows: str = "late rows",
) -> str:
    """Return the costs of the sizes in words, and add those of the first two to the evidence;
    ``counted_rows`` is what their late rows are.
    """
    texts: list[str] = []
    evidence["horizon_s"] = within_s
    if not at.is_attainable:
        counted_rows = counted_rows.replace("late rows", f"rows later than {at.aim_s:g} s")
    for size, role in zip(costs, ("chosen", "rejected"), strict=False):
        slot_s = size.executors * at.slots * within_s
        late_rows = 0.0 if size.late_rows <= at.tolerated_rows else size.late_rows
        evidence |= {f"slot_s_{role}": slot_s, f"late_rows_{role}": late_rows}
        late = f"{late_rows:,.0f} {counted_rows}" if late_rows else f"no {counted_rows}"
        late += "" if texts else f" within {within_s:.0f} s"
        in_surges = size.surge_late_share * at.rate * at.back_s
        if in_surges >= 1:
            late += f", {in_surges:,.0f} expected in surges"
        executors = counted(size.executors, "executor")
        texts.append(f"{executors}: {slot_s:,.0f} slot-seconds, {late}")
    return "; ".join(texts)


def decision_evidence(
    at: Situation, late_share_ahead: float, surge_risk: LateShares
) -> dict[str, Any]:
    """Return forecast, largest surge, need and capacity; the forecast is that of the horizon after
    which executors requested now start.
    """
    place = min(
        range(len(HORIZONS_S)), key=lambda i: abs(HORIZONS_S[i] - at.cost.start_s - at.state.tick_s)
    )
    rates = [path[place + 1][1] for path in (at.forecast.p50, at.forecast.p90, at.forecast.p99)]
    surge = max(rare_surges(at), key=lambda surge: surge.rate)
    needed = next((q for q in at.sizes if at.sustained(q) >= rates[1]), None)
    return {
        "forecast_s": HORIZONS_S[place],
        "forecast_rows_per_s_p50": rates[0],
        "forecast_rows_per_s_p90": rates[1],
        "forecast_rows_per_s_p99": rates[2],
        "forecast_path_p50": _path(at.forecast.p50),
        "forecast_path_p90": _path(at.forecast.p90),
        "forecast_path_p99": _path(at.forecast.p99),
        "surge_rows_per_s": surge.rate,
        "surge_step_rows_per_s": surge.once,
        "needed": needed,
        "capacity_rows_per_s": at.sustained(at.size),
        "late_share_ahead": late_share_ahead,
        "late_share_budget": at.error_budget.overall,
        "start_s": at.cost.start_s,
        "spread": at.spread,
        "fixed_s": at.model.fixed_s,
        "row_slot_s": sum(stage.rows_in * stage.row_s for stage in at.model.stages),
        "surge_late_share": surge_risk.overall,
        "surge_late_share_window": surge_risk.in_window,
    }


def _path(path: Path) -> str:
    return " ".join(f"{t_s:g}:{rate:.4g}" for t_s, rate in path)
