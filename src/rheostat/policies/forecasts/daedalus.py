"""Daedalus (ICPE 2024): capacity by regression of throughput on CPU, a forecast, and the smallest
size that recovers in time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import About, check_limits, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.lag import queued_rows
from rheostat.signals.statistics.running_line import Line, trend
from rheostat.signals.statistics.windows import within
from rheostat.signals.true_rates import busy_share, consumed_rows_per_s, is_known

_STEP_S = 10.0


@dataclass(frozen=True, slots=True)
class Daedalus:
    """The smallest p with capacity(p) > load, recovery within 600 s and room for the forecast (15
    minutes of it if p changes).

    A worker's capacity is read from its regression of throughput on CPU at 1 - (CPU of the hottest
    worker - its own CPU), because the hottest reaches 100 % first. capacity(p) is the estimate made
    at p, otherwise the current capacity x p / current p. It never scales in while the lag exceeds
    one second's capacity.

    The forecast is the published fallback, a straight line; auto-ARIMA, the choice between the two,
    and the learning of the downtime are omitted.
    """

    about: ClassVar[About] = About(
        formula=(
            "capacity = sum over workers of line(1 - (max cpu - own cpu)), line: throughput over"
            " cpu; capacity(p) seen, else x p / now\nbacklog = load over the checkpoint interval +"
            " forecast while down + lag_rows; recovery = down + time until\nthe sum of (capacity(p)"
            " - forecast) exceeds it; the smallest p with capacity > load, recovery in time,"
            " capacity >= forecast"
        ),
        source=(
            "Pfister et al., Daedalus: Self-Adaptive Horizontal Autoscaling for Resource Efficiency"
            " of DSP Systems, ICPE 2024"
        ),
        fails_when=(
            "throughput is not linear in CPU (waiting for other systems), or the load turns within"
            " the forecast"
        ),
        steady=Observation(
            t_s=0.0,
            executors=4,
            input_rows_per_s=3000.0,
            processed_rows_per_s=3000.0,
            cpu=0.85,
            busy=0.85,
            lag_rows=0.0,
            lag_s=0.0,
        ),
    )

    live_signals: ClassVar[frozenset[str]] = frozenset({"cpu", "by_executor"})

    loop_s: float = parameter(60.0, "time between two decisions", "s")
    first_s: float = parameter(300.0, "no change of size before", "s")
    pause_s: float = parameter(180.0, "least time between two changes of size", "s")
    grace_s: float = parameter(
        600.0, "within this time of a change only if the load reaches the capacity", "s"
    )
    recovery_s: float = parameter(600.0, "longest recovery time", "s")
    forecast_s: float = parameter(900.0, "forecast that a new size must have room for", "s")
    trend_s: float = parameter(600.0, "past that the forecast's line is laid through", "s")
    checkpoint_s: float = parameter(
        10.0, "checkpoint interval: what is done again after a change", "s"
    )
    up_downtime_s: float = parameter(30.0, "downtime of scaling out", "s")
    down_downtime_s: float = parameter(15.0, "downtime of scaling in", "s")
    max_executors: int = parameter(100, "largest size that is considered", "executors", at_least=1)

    def __post_init__(self) -> None:
        check_limits(self)
        if not self.recovery_s > max(self.up_downtime_s, self.down_downtime_s):
            raise BadInput(f"recovery_s must be beyond the downtimes, but it is {self.recovery_s}")

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the smallest sufficient size once a minute; keep the size in between and during
        the pause after a change.
        """
        now, load, p = observation.t_s, observation.input_rows_per_s, observation.executors
        lag, workers = queued_rows(observation), _workers(observation)
        if not is_known(load) or not is_known(lag) or not p or not workers:
            why = "size kept: load, lag, executors or the workers' CPU and throughput are unknown"
            return hold(observation, why), memory
        state = self._learn(observation, load, p, workers, memory)
        capacity, ahead = state["capacity"][str(p)], trend(state["load"], self.forecast_s, _STEP_S)
        # The next minute in steps of ten seconds, because the next decision follows after a minute.
        soon = max([load, *ahead[:6]])
        evidence = {
            "load": load,
            "capacity": capacity,
            "lag_rows": lag,
            "forecast_max": max([load, *ahead]),
        }
        if why := self._rests(now, state, capacity <= soon):
            return hold(observation, why, evidence), state
        sizes = range(1, self.max_executors + 1)
        enough = (q for q in sizes if self._suffices(q, p, load, lag, ahead, state))
        target = next(enough, self.max_executors)
        state["decided_s"] = now
        size = observation.size or 1
        # A backlog of more than one second's capacity means that the job has not caught up.
        if target < size and lag > capacity:
            why = f"size kept: {lag:,.0f} rows wait, more than a second's work"
            return hold(observation, why, evidence), state
        reason = (
            f"{load:,.0f} rows/s, {soon:,.0f} soon, {counted(p, 'executor')} can do"
            f" {capacity:,.0f}: {counted(target, 'executor')} needed to recover within"
            f" {self.recovery_s:.0f} s"
        )
        return Decision(target=target, reason=reason, evidence=evidence), state

    def _suffices(
        self, q: int, p: int, load: float, lag: float, ahead: Sequence[float], state: dict[str, Any]
    ) -> bool:
        capacity = _capacity(q, p, state["capacity"])
        # A new size must also carry the forecast, so that it does not change again soon.
        if capacity <= load or (q != p and ahead and capacity <= max(ahead)):
            return False
        down_s = 0.0
        if q != p:
            down_s = self.up_downtime_s if q > p else self.down_downtime_s
        recovery_s = self._recovery_s(capacity, load, lag, ahead, down_s)
        return recovery_s <= self.recovery_s and capacity >= max(
            [load, *ahead[: math.ceil(recovery_s / _STEP_S)]]
        )

    def _recovery_s(
        self, capacity: float, load: float, lag: float, ahead: Sequence[float], down_s: float
    ) -> float:
        """Return the downtime plus the time to work off the backlog in seconds; infinite if the
        forecast leaves too little capacity.
        """
        while_down = int(down_s / _STEP_S)
        backlog = lag + (
            # Rows since the last checkpoint are processed again, and rows queue up during the
            # downtime.
            load * self.checkpoint_s + sum(ahead[:while_down]) * _STEP_S if down_s else 0.0
        )
        if backlog <= 0:
            return down_s
        done = 0.0
        for n, expected in enumerate(ahead[while_down:], start=1):
            # The sum may fall: where the forecast exceeds the capacity, the backlog grows again.
            done += (capacity - expected) * _STEP_S
            if done > backlog:
                return down_s + n * _STEP_S
        return math.inf

    def _rests(self, now: float, state: dict[str, Any], short: bool) -> str:
        """Return why no decision is made now; empty if one is."""
        if now - state["began_s"] < self.first_s:
            return f"learning: {now - state['began_s']:.0f} of {self.first_s:.0f} s"
        if state["decided_s"] is not None and now - state["decided_s"] < self.loop_s:
            return "between two decisions"
        if state["changed_s"] is not None and now - state["changed_s"] < (
            self.pause_s if short else self.grace_s
        ):
            return f"resting: {now - state['changed_s']:.0f} s since the last change of size"
        return ""

    def _learn(
        self,
        observation: Observation,
        load: float,
        p: int,
        workers: dict[str, tuple[float, float]],
        memory: Memory,
    ) -> dict[str, Any]:
        """Return the state with this tick added to the workers' lines, the load and the capacity at
        p; a clock that was set back starts a new state.
        """
        now = observation.t_s
        if now < memory.get("t_s", -math.inf):
            memory = {}
        lines = {
            name: Line.of(memory.get("lines", {}).get(name, {})).with_point(*point)
            for name, point in workers.items()
        }
        hottest = max(cpu for cpu, _ in workers.values())
        estimate = (
            # When the hottest worker reaches 100 %, the others are assumed to keep their current
            # distance.
            sum(max(0.0, line.at(1 - (hottest - workers[name][0]))) for name, line in lines.items())
            * p
            / len(workers)
        )
        known = dict(memory.get("capacity", {}))
        # An exponential mean: the newest estimate counts half.
        known[str(p)] = (known[str(p)] + estimate) / 2 if str(p) in known else estimate
        same = memory.get("executors", p) == p
        return {
            "t_s": now,
            "began_s": memory.get("began_s", now),
            "executors": p,
            "changed_s": memory.get("changed_s") if same else now,
            "decided_s": memory.get("decided_s"),
            "capacity": known,
            "lines": {name: line.plain() for name, line in lines.items()},
            "load": [*within(memory.get("load", ()), now, self.trend_s), (now, load)],
        }


def _capacity(q: int, p: int, known: dict[str, float]) -> float:
    return known[str(q)] if str(q) in known else known[str(p)] * q / p


def _workers(observation: Observation) -> dict[str, tuple[float, float]]:
    """Return (CPU share, rows per second) per executor, or of the mean executor if there are no
    values per executor; empty if unknown.
    """
    by_executor = {
        name: (sample.cpu, sample.rows_per_s)
        for name, sample in (observation.by_executor or {}).items()
        if is_known(sample.cpu) and is_known(sample.rows_per_s)
    }
    if by_executor:
        return by_executor
    cpu, rate = (
        (observation.cpu if observation.cpu is not None else busy_share(observation)),
        consumed_rows_per_s(observation),
    )
    if not is_known(cpu) or not is_known(rate) or not observation.executors:
        return {}
    return {
        f"mean of {observation.executors}": (cpu, rate / observation.executors)
    }  # the name contains the size, because each size has its own line
