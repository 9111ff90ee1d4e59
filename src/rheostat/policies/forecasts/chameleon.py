"""Chameleon (TPDS 2019): a forecast with the service demand decides ahead; thresholds decide if the
forecast is not trusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.forecasts.interval_means import with_rate
from rheostat.policies.forecasts.seasonal import error_ratio, seasonal
from rheostat.policies.parameters import About, check_limits, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.true_rates import arrivals_per_s, demand_of, with_demand


@dataclass(frozen=True, slots=True)
class Chameleon:
    """rho = rate x demand / slots: scale out until rho < ``upper``, scale in until rho >=
    ``lower``.

    Each interval computes two sizes: a proactive one from the forecast of the next intervals, and a
    reactive one from the current rate. If the forecast is trusted, the proactive size decides and
    the reactive one can only raise it; otherwise the reactive size decides alone. A forecast is
    trusted if its error was at most ``error_max`` times that of repeating the last value.

    The forecast repeats the last season at the current level; before a complete season was observed
    it is a damped trend. The paper's forecasts (tBATS, ARIMA), its resolution of decisions that lie
    close together, and its tiers are omitted. The thresholds are ours.
    """

    about: ClassVar[About] = About(
        formula=(
            "demand = busy slot-seconds / rows; rho(rate, n) = rate x demand / (n x"
            " slots_per_executor)\nproactive: rate = highest forecast of the next ahead_s;"
            " reactive: rate = input_rows_per_s\nrho >= upper: n = min n: rho < upper; rho < lower:"
            " n = max n: rho >= lower\ntrusted: max(proactive, reactive where it grows); else"
            " reactive"
        ),
        source=(
            "Bauer et al., Chameleon: A Hybrid, Proactive Auto-Scaling Mechanism on a Level-Playing"
            " Field, IEEE TPDS 30(4), 2019"
        ),
        fails_when=(
            "rows wait already: a backlog is not in the model, only the room above upper works it"
            " off; batches have a fixed cost: the demand of a row then depends on the rate"
        ),
    )
    live_signals: ClassVar[frozenset[str]] = frozenset({"stages"})

    upper: float = parameter(0.8, "utilization from which executors are added", "1")
    lower: float = parameter(0.6, "utilization below which executors are removed", "1")
    interval_s: float = parameter(60.0, "time between two decisions", "s", above=0)
    ahead_s: float = parameter(240.0, "forecast that a size must have room for", "s", above=0)
    season_s: float = parameter(86_400.0, "length of the season, a day", "s")
    error_max: float = parameter(
        1.0, "a forecast is trusted up to this share of the naive error", "1", above=0
    )

    def __post_init__(self) -> None:
        check_limits(self)
        if not 0 < self.lower < self.upper:
            raise BadInput(
                f"lower must be above 0 and below upper, but they are {self.lower} and {self.upper}"
            )
        if not 4 * self.interval_s <= self.season_s <= 5000 * self.interval_s:
            raise BadInput(
                "season_s must be from 4 to 5,000 times interval_s, but they are"
                f" {self.season_s} and {self.interval_s}"
            )

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size once per interval; keep the size in between."""
        rate, executors = arrivals_per_s(observation), observation.executors
        if rate is None or not executors:
            return hold(observation, "size kept: arrival rate or executors are unknown"), memory
        state, now = self._learn(observation, rate, memory), observation.t_s
        demand = demand_of(state["demands"])
        if demand is None:
            return hold(observation, "size kept: no service demand was measured yet"), state
        decided_s = memory.get("decided_s", -math.inf)
        if 0 <= now - decided_s < self.interval_s:
            state["decided_s"] = decided_s
            return hold(observation, "between two decisions"), state
        state["decided_s"] = now
        return self._decided(observation, rate, demand, state["series"]["means"]), state

    def _learn(self, observation: Observation, rate: float, memory: Memory) -> dict[str, Any]:
        most = self._season + 60
        series = memory.get("series", {})
        return {
            "series": with_rate(series, observation.t_s, rate, self.interval_s, most),
            "demands": with_demand(memory.get("demands", ()), observation),
        }

    @property
    def _season(self) -> int:
        return round(self.season_s / self.interval_s)

    def _decided(
        self, observation: Observation, rate: float, demand: float, means: Sequence[float]
    ) -> Decision:
        size, steps = observation.size or 1, math.ceil(self.ahead_s / self.interval_s)
        # The current rate is the newest value, although its interval has not ended.
        ahead = seasonal([*means, rate], self._season, steps)
        off = error_ratio([*means, rate], self._season, steps)
        slots_per_row_s = demand / (observation.slots_per_executor or 1)
        reactive = self._size(size, rate * slots_per_row_s)
        proactive = self._size(size, max(ahead) * slots_per_row_s)
        trusted = off is not None and off <= self.error_max
        # A current shortage may raise the size of a trusted forecast; the reactive size never
        # lowers it.
        target = max(proactive, reactive if reactive > size else 0) if trusted else reactive
        evidence = {
            "rate": rate,
            "forecast_rows_per_s": max(ahead),
            "error_ratio": off,
            "demand_slot_s": demand,
            "proactive": proactive,
            "reactive": reactive,
        }
        by = "the forecast is trusted" if trusted else "the forecast is not trusted"
        reason = (
            f"{rate:,.0f} rows/s now, {max(ahead):,.0f} ahead, {by}:"
            f" {counted(target, 'executor')} needed"
        )
        return Decision(target=target, reason=reason, evidence=evidence)

    def _size(self, size: int, executors: float) -> int:
        """Return the size for a load in busy executors."""
        # Strictly below the upper threshold; the tolerance is for rounding errors (2.4 / 0.8 is
        # just below 3).
        least = max(1, math.floor(executors / self.upper + 1e-9) + 1)
        if executors / size >= self.upper:
            return least
        if executors / size < self.lower:
            # Never below what the upper threshold needs, or the next decision would revert it.
            return min(size, max(least, math.floor(executors / self.lower + 1e-9)))
        return size
