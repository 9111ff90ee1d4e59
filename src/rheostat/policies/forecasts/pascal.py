"""PASCAL (FGCS 2019): a learned forecast of the highest load, and a learned cost profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.forecasts.interval_means import with_rate
from rheostat.policies.forecasts.peak_model import peak, updated
from rheostat.policies.parameters import About, check_limits, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.statistics.running_line import Line
from rheostat.signals.true_rates import arrivals_per_s, executors_for, slot_s_per_row

_DISTINCT_SHARE = 0.1
"""Minimum coefficient of variation of the rates; below it, a slope would be noise."""


@dataclass(frozen=True, slots=True)
class Pascal:
    """executors = ceil(used slots at the highest rate of the next ``ahead_s`` / ``cpu_max`` / slots
    per executor).

    The profile is a line of used slots over the rate. The forecast is learned from the rate, its
    change and the time of day. The current rate counts instead (reactive) until ten peaks have been
    observed, and whenever the forecast is lower. ``ahead_s`` must exceed the start-up time of
    executors.

    The published forecast and profile are neural networks, trained in advance; here both are linear
    and learned online. The choice of a parallelism per operator is omitted, because the stages of a
    batch share the slots.
    """

    about: ClassVar[About] = About(
        formula=(
            "peak = mean rate x w (1, rate, change, sin and cos of the time of day); w by recursive"
            " least squares on observed peaks\nslots(rate) = line through (input_rows_per_s, busy"
            " slot-seconds per s)\nexecutors = ceil(slots(max(input_rows_per_s, peak)) / cpu_max /"
            " slots_per_executor)"
        ),
        source=(
            "Lombardi et al., PASCAL: An architecture for proactive auto-scaling of distributed"
            " services, Future Generation Computer Systems 98, 2019"
        ),
        fails_when=(
            "rows wait already: only the room above cpu_max works them off; the load has a shape"
            " that neither its last minutes nor the time of day tell"
        ),
    )
    live_signals: ClassVar[frozenset[str]] = frozenset({"stages"})

    cpu_max: float = parameter(0.8, "highest use of the slots that is planned", "1", above=0)
    interval_s: float = parameter(15.0, "time between two forecasts", "s", above=0)
    ahead_s: float = parameter(300.0, "the highest rate of this time counts", "s")
    season_s: float = parameter(86_400.0, "length of the season, a day", "s", above=0)

    def __post_init__(self) -> None:
        check_limits(self)
        if not self.interval_s <= self.ahead_s <= 100 * self.interval_s:
            raise BadInput(
                "ahead_s must be from 1 to 100 times interval_s, but they are"
                f" {self.ahead_s} and {self.interval_s}"
            )

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the fewest executors that carry the highest rate to come."""
        rate, executors = arrivals_per_s(observation), observation.executors
        if rate is None or not executors:
            return hold(observation, "size kept: arrival rate or executors are unknown"), memory
        state = self._learn(observation, rate, memory)
        profile, expected = Line.of(state["profile"]), peak(state["model"])
        if not profile.n:
            return hold(observation, "size kept: no batch was measured yet"), state
        # Never below the current rate: the forecast may only raise it (the reactive part).
        highest = max(rate, expected or 0.0)
        slots = _used(profile, highest) / self.cpu_max
        target = executors_for(slots, observation)
        evidence = {"rate": rate, "peak_rows_per_s": expected, "slots": slots}
        forecast = "no forecast yet" if expected is None else f"{expected:,.0f} expected"
        reason = f"{rate:,.0f} rows/s now, {forecast}: {counted(target, 'executor')} needed"
        return Decision(target=target, reason=reason, evidence=evidence), state

    def _learn(self, observation: Observation, rate: float, memory: Memory) -> dict[str, Any]:
        ahead = round(self.ahead_s / self.interval_s)
        series = with_rate(
            memory.get("series", {}), observation.t_s, rate, self.interval_s, 2 * ahead
        )
        model, before = memory.get("model", {}), memory.get("series", {}).get("place")
        # The model learns from means, and there is a new mean only once per interval.
        if series["means"] and series["place"] != before:
            model = updated(model, observation.t_s, series["means"], ahead, self.season_s)
        elif not series["means"]:
            model = {}  # a new series: outcomes of earlier forecasts are unknown
        profile, demand = memory.get("profile", {}), slot_s_per_row(observation)
        if demand is not None:
            profile = Line.of(profile).with_point(rate, rate * demand).plain()
        return {"series": series, "model": model, "profile": profile}


def _used(profile: Line, rate: float) -> float:
    """Return the slots in use at a rate: on the line, or proportional if all rates were similar."""
    apart = math.sqrt(profile.spread_x / profile.n) > _DISTINCT_SHARE * profile.mean_x
    # A line that falls with the rate is noise: a higher rate never needs fewer slots.
    if apart and profile.spread_xy > 0:
        return max(0.0, profile.at(rate))
    return profile.mean_y / profile.mean_x * rate if profile.mean_x > 0 else 0.0
