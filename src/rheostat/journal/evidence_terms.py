"""Names and units of the numbers behind a decision, for ``rheostat explain``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """The name of a number and its unit; no unit for a ratio or a text."""

    words: str
    unit: str = ""


_ROWS_PER_S, _EXECUTORS, _SLOTS, _S, _SHARE = "rows/s", "executors", "slots", "s", "share"

TERMS = {
    "ability": Term("rows that one job of this size can process", _ROWS_PER_S),
    "binds": Term("what binds, so that more executors would not help"),
    "capacity": Term("rows that this size can process", _ROWS_PER_S),
    "capacity_rows_per_s": Term("rows that this size can process", _ROWS_PER_S),
    "changed": Term("executors needed if the size changes, with the downtime of the change"),
    "cost": Term("cost of the cheapest plan: executor-seconds and the price of late rows"),
    "cpu": Term("CPU use of a slot", _SHARE),
    "demand": Term("rows that must be processed", _ROWS_PER_S),
    "demand_slot_s": Term("slot time of a row", _S),
    "derivative": Term("part of the size from the signal's slope", _EXECUTORS),
    "down_above": Term("arrival rate below which the job would scale in", _ROWS_PER_S),
    "downtime_s": Term("expected downtime of a change", _S),
    "downtimes_seen": Term("changes of size whose downtime was measured"),
    "ds2": Term("slots that DS2's rule proposes", _SLOTS),
    "error_ratio": Term("forecast error relative to that of a constant forecast"),
    "fixed_s": Term("fixed time of a batch", _S),
    "forecast_max": Term("largest forecast arrival rate", _ROWS_PER_S),
    "forecast_s": Term("how far ahead the forecast is", _S),
    "forecast_rows_per_s": Term("forecast arrival rate", _ROWS_PER_S),
    "forecast_path_p50": Term("median of the forecast, seconds from now:rows/s"),
    "forecast_path_p90": Term("90 % path of the forecast, seconds from now:rows/s"),
    "forecast_path_p99": Term("99 % path of the forecast, seconds from now:rows/s"),
    "forecast_rows_per_s_p50": Term("forecast arrival rate, median", _ROWS_PER_S),
    "forecast_rows_per_s_p90": Term("forecast arrival rate, 90th percentile", _ROWS_PER_S),
    "forecast_rows_per_s_p99": Term("forecast arrival rate, 99th percentile", _ROWS_PER_S),
    "horizon_s": Term("planning horizon", _S),
    "ineffective": Term("what the last scale-out achieved"),
    "integral": Term("part of the size from the accumulated error", _EXECUTORS),
    "lag": Term("change of the backlog relative to the rows processed"),
    "lag_rows": Term("backlog", "rows"),
    "lag_s": Term("wait of a row in the backlog", _S),
    "lag_slope": Term("growth of the backlog", _ROWS_PER_S),
    "surge_late_share_window": Term(
        "largest share of late rows in five minutes in a surge", _SHARE
    ),
    "late_rows_chosen": Term("late rows within the horizon, chosen size", "rows"),
    "late_rows_rejected": Term("late rows within the horizon, rejected size", "rows"),
    "late_share_ahead": Term("share of late rows in the forecast at this size", _SHARE),
    "late_share_budget": Term("share of rows that may still be late", _SHARE),
    "surge_late_share": Term("late rows in a surge over rows at the present rate", _SHARE),
    "later": Term("executors later in the cheapest plan", _EXECUTORS),
    "left_s": Term("time left until the deadline", _S),
    "load": Term("arrival rate", _ROWS_PER_S),
    "needed": Term("executors needed", _EXECUTORS),
    "peak_rows_per_s": Term("expected peak of the arrival rate", _ROWS_PER_S),
    "pi": Term("slots that the most demanding operator needs", _SLOTS),
    "proactive": Term("executors for the forecast", _EXECUTORS),
    "proportional": Term("part of the size from the present error", _EXECUTORS),
    "rate": Term("arrival rate", _ROWS_PER_S),
    "ratio_avg": Term("batch time over the trigger interval, mean"),
    "reactive": Term("executors for the present rate", _EXECUTORS),
    "row_slot_s": Term("slot time of a row", _S),
    "rows_per_s_highest": Term("highest arrival rate of the scenarios", _ROWS_PER_S),
    "rows_per_s_per_executor": Term("rows that an executor can process", _ROWS_PER_S),
    "samples": Term("measurements"),
    "scenario": Term("deciding scenario"),
    "scenarios": Term("simulated futures"),
    "sizes_measured": Term("sizes whose throughput was measured"),
    "slo": Term("objective", _S),
    "slot_s_chosen": Term("cost within the horizon, chosen size", "slot-seconds"),
    "slot_s_rejected": Term("cost within the horizon, rejected size", "slot-seconds"),
    "slots": Term("slots needed", _SLOTS),
    "sojourn_s": Term("time of a row in the job", _S),
    "spread": Term("relative spread of batch times"),
    "stable_from": Term("least slots with which the backlog does not grow", _SLOTS),
    "standing": Term("executors needed if the size is kept"),
    "start_s": Term("start time of an executor", _S),
    "state_partitions_wanted": Term("state partitions that would be enough"),
    "surge_rows_per_s": Term("highest rate of a surge", _ROWS_PER_S),
    "surge_step_rows_per_s": Term("part of a surge that arrives at once", _ROWS_PER_S),
    "suspended": Term("signals that are ignored for a while"),
    "target_capacity": Term("capacity that the job should have", _ROWS_PER_S),
    "throughput": Term("rows processed", _ROWS_PER_S),
    "throughput_per_executor": Term("rows that an executor can process", _ROWS_PER_S),
    "true_rate": Term("rows that this size could process if always busy", _ROWS_PER_S),
    "up_below": Term("capacity below which the job would scale out", _ROWS_PER_S),
    "used": Term("use of the slots", _SHARE),
    "utilization": Term("use of the slots, over its target"),
    "wanted": Term("executors that the metrics need", _EXECUTORS),
    "recommended": Term("slots that the most demanding operator needs", _SLOTS),
}
"""Name and unit of each number, by its key in the journal."""


def term(name: str) -> Term:
    """Return the term of a number; an unlisted key is shown with spaces."""
    known = TERMS.get(name)
    if known is None and name.startswith("pi "):
        return Term(f"slots that the operator {name.removeprefix('pi ')} needs", _SLOTS)
    return known or Term(name.replace("_", " "))
