"""Dhalion: symptoms, diagnoses, resolutions; failed ones are blacklisted (Koper, section 2.5)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, ClassVar

from rheostat.actions import Action, Recommendation, ReplaceExecutor
from rheostat.model import Decision, ExecutorSample, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import About, Limited, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.batch_ratio import suspended_share
from rheostat.signals.lag import littles_law_s, queued_rows


@dataclass(frozen=True, slots=True)
class Dhalion(Limited):
    """Backpressure with equal pending rows: too few executors; with one outlier: a slow executor or
    skewed data.

    Too few: x (1 + suspended / normal time), so 20 % suspended and 80 % normal time add a quarter.
    Too many (no backpressure, hardly any pending rows): x (1 - scale_down). An outlier has far more
    pending rows than the median. It is slow if it handles no more rows than the median executor
    (replace it); otherwise its data are skewed (rebalance it). Each resolution is judged after
    ``settle_s``; one without relief is blacklisted for ``blacklist_s``.
    """

    about: ClassVar[About] = About(
        formula=(
            "suspended share b >= backpressure_ms / 1000 and pending rows equal: ceil(executors x"
            " (1 + b / (1 - b))); else an action\nb below it and lag of less than pending_s of"
            " arrivals: floor(executors x (1 - scale_down))"
        ),
        source=(
            "Floratou et al., Dhalion: self-regulating stream processing in Heron (VLDB 2017);"
            " Koper (2022), section 2.5"
        ),
        fails_when=(
            "load changes faster than a resolution settles (many small steps); a size that just"
            " fits is probed again and again"
        ),
        steady=Observation(
            t_s=0.0,
            executors=4,
            backpressure_ms_per_s=20.0,
            lag_rows=9000.0,
            input_rows_per_s=3000.0,
        ),
    )

    live_signals: ClassVar[frozenset[str]] = frozenset({"by_executor"})

    backpressure_ms: float = parameter(100.0, "from here on there is backpressure", "ms/s", above=0)
    pending_s: float = parameter(
        2.0, "fewer pending rows than arrive in this time are close to none", "s", above=0
    )
    apart: float = parameter(
        2.0, "multiple of the median of pending rows that is an outlier", "1", above=1
    )
    scale_down: float = parameter(
        0.2, "share of executors removed when over-provisioned", "1", above=0, below=1
    )
    settle_s: float = parameter(120.0, "time after which a resolution is judged", "s", above=0)
    relief: float = parameter(
        0.1, "share by which backpressure must fall, else it did not help", "1", above=0, at_most=1
    )
    blacklist_s: float = parameter(
        600.0, "time for which a resolution that did not help is not tried", "s", above=0
    )
    slo: float = parameter(
        10.0, "latency objective; half of it replaces a missing trigger interval", "s", above=0
    )

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size and the actions that resolve the diagnosis."""
        suspended, now = suspended_share(observation, self.slo), observation.t_s
        if suspended is None or not observation.executors:
            return hold(observation, "size kept: backpressure or executors are unknown"), memory
        blacklist, tried = self._judged(observation, suspended, memory)
        kept = {"blacklist": blacklist, "tried": tried}
        # One resolution at a time, because the effects of two could not be separated.
        if tried is not None:
            why = f"waiting to see whether it helps to {tried['what']}"
            return hold(observation, why, {"suspended": suspended}), kept
        resolution = self._resolve(observation, observation.executors, suspended)
        decision = replace(resolution, evidence={"suspended": suspended})
        what = _name(decision, observation)
        if what is None:
            return decision, kept
        # Judged by name, not by size: a scale-out by two repeats a scale-out by one that did not
        # help.
        if what in blacklist:
            why = f"size kept: it did not help to {what}"
            return hold(observation, why, {"suspended": suspended}), kept
        sizes = {"from": observation.size, "to": decision.target}
        return decision, {
            **kept,
            "tried": {"what": what, "t_s": now, "suspended": suspended, **sizes},
        }

    def _resolve(self, observation: Observation, executors: int, suspended: float) -> Decision:
        if suspended >= self.backpressure_ms / 1000:
            if (standing_out := self._standing_out(observation.by_executor or {})) is not None:
                action, why = standing_out
                return replace(hold(observation, f"backpressure: {why}"), actions=(action,))
            # Limited to 0.9: near 1 the ratio is unbounded, and ten times the size is enough for
            # one step.
            more = min(suspended, 0.9) / (1 - min(suspended, 0.9))
            wanted = math.ceil(round(executors * (1 + more), 9))
            reason = (
                f"under-provisioned: intake suspended {suspended:.0%} of the time,"
                f" {counted(wanted, 'executor')} needed"
            )
            return Decision(target=max(observation.size or 1, wanted), reason=reason)
        waiting_s = littles_law_s(queued_rows(observation), observation.input_rows_per_s)
        if waiting_s is None:
            return hold(observation, "no backpressure; pending rows are unknown")
        if waiting_s > max(self.pending_s, 2 * (observation.trigger_s or 0.0)):
            return hold(observation, "healthy")
        fewer = max(1, math.floor(round(executors * (1 - self.scale_down), 9)))
        reason = f"over-provisioned: no backpressure, {waiting_s:.1f} s of arrivals pending"
        return Decision(target=min(observation.size or 1, fewer), reason=reason)

    def _standing_out(self, executors: Mapping[str, ExecutorSample]) -> tuple[Action, str] | None:
        """Return action and diagnosis for the executor with far more pending rows, if any."""
        pending = {
            name: rows
            for name, sample in executors.items()
            if (rows := sample.lag_rows) is not None
        }
        rates = [rate for one in executors.values() if (rate := one.rows_per_s) is not None]
        # One executor alone cannot be an outlier.
        if len(pending) < 2:
            return None
        worst = max(pending, key=lambda name: (pending[name], name))
        rate = executors[worst].rows_per_s
        if rate is None or pending[worst] <= self.apart * median(pending.values()):
            return None
        # More rows handled and more pending: the data are skewed, and the machine is not slow.
        if rate > 1.1 * median(rates):
            why = f"executor {worst} has more data than the others (skew)"
            return Recommendation(f"rebalance executor {worst}"), why
        return ReplaceExecutor(worst), f"executor {worst} is slow"

    def _judged(
        self, observation: Observation, suspended: float, memory: Memory
    ) -> tuple[dict[str, float], dict[str, Any] | None]:
        """Return the blacklist (resolution -> expiry time) and the resolution on trial."""
        now, tried = observation.t_s, memory.get("tried")
        blacklist, latest_s = memory.get("blacklist", {}), now + self.blacklist_s
        until = {what: t for what, t in blacklist.items() if now < t <= latest_s}
        # If a guard kept the size, nothing was tried.
        if tried is None or tried["to"] != tried["from"] == observation.size:
            return until, None
        helped = self._helped(tried, suspended)
        # A scale-in that caused backpressure is judged at once, because waiting would make it
        # worse.
        if 0 <= now - tried["t_s"] < self.settle_s and (helped or tried["to"] >= tried["from"]):
            return until, tried
        return until if helped else {**until, tried["what"]: now + self.blacklist_s}, None

    def _helped(self, tried: Mapping[str, Any], suspended: float) -> bool:
        """Return whether backpressure fell enough; after a scale-in it must be absent."""
        relieved = float(tried["suspended"]) * (1 - self.relief)
        return suspended < max(relieved, self.backpressure_ms / 1000)


def _name(decision: Decision, observation: Observation) -> str | None:
    if decision.actions:
        return str(decision.actions[0])
    change = decision.target - (observation.size or 0)
    if change == 0:
        return None
    return "scale out" if change > 0 else "scale in"
