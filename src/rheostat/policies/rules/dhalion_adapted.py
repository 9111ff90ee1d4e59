"""Dhalion as Koper adapted it (thesis, 3.4): input rate over throughput while the lag grows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import About, Limited, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.batch_ratio import suspended_share
from rheostat.signals.lag import queued_rows
from rheostat.signals.last_resize import latest_size, resized
from rheostat.signals.statistics.windows import deriv, within


@dataclass(frozen=True, slots=True)
class DhalionAdapted(Limited):
    """Scale out if lag_s > threshold and deriv(lag) > 0: ceil(executors x input rate / throughput x
    (1 + over-provisioning)).

    Scale in if backpressure, lag_s and cpu are below their thresholds: floor(executors x (1 -
    scale_down)). A cooldown follows a change of size. Koper's throughput is what the sink receives;
    if a query writes fewer rows than it reads, the size jumps (not with ``throughput=source``).
    Late batches replace an absent backpressure metric.
    """

    about: ClassVar[About] = About(
        formula=(
            "lag_s > latency_threshold_s and deriv(lag_rows) > 0: ceil(executors x input_rows_per_s"
            " / throughput x (1 + factor))\nbackpressure < backpressure_ms and lag_s <"
            " latency_threshold_s and cpu < cpu_threshold: floor(executors x (1 - scale_down))"
        ),
        source=(
            "Koper (2022), section 3.4, parameters of section 4.6; after Floratou et al., Dhalion"
            " (VLDB 2017)"
        ),
        fails_when=(
            "the sink receives fewer rows than are read (it jumps to the maximum), or the lag is"
            " large but falling too slowly"
        ),
        steady=Observation(
            t_s=0.0,
            executors=4,
            cpu=0.7,
            backpressure_ms_per_s=20.0,
            lag_s=0.5,
            lag_rows=1500.0,
            input_rows_per_s=3000.0,
        ),
        monotone=True,
    )

    latency_threshold_s: float = parameter(
        5.0, "rows that wait longer are late (Koper: 1, 5, 10)", "s", above=0
    )
    factor: float = parameter(0.2, "over-provisioning when scaling up", "1")
    scale_down: float = parameter(
        0.2, "share of executors removed when scaling down", "1", above=0, below=1
    )
    backpressure_ms: float = parameter(
        100.0, "below this there is no backpressure", "ms/s", above=0
    )
    cpu_threshold: float = parameter(0.6, "below this CPU share the job may shrink", "1", above=0)
    cooldown_s: float = parameter(
        120.0, "time after a change of size in which nothing is decided", "s"
    )
    window_s: float = parameter(60.0, "window of the slope of the lag", "s", above=0)
    throughput: str = parameter(
        "sink", "sink: rows given out; source: rows read", "text", choices=("sink", "source")
    )
    slo: float = parameter(
        10.0, "latency objective; half of it replaces a missing trigger interval", "s", above=0
    )

    @property
    def live_signals(self) -> frozenset[str]:
        """Return the signals that it reads in addition to those of the job."""
        return frozenset({"cpu"} | ({"output_rows_per_s"} if self.throughput == "sink" else set()))

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size and the signals behind it."""
        kept = self._remember(observation, memory)
        now, executors, lag_s = observation.t_s, observation.executors, observation.wait_s
        slope = deriv(kept["lag"])
        evidence = {"lag_s": lag_s, "lag_slope": slope, "cpu": observation.cpu}
        if not executors or lag_s is None or queued_rows(observation) is None:
            return hold(observation, "size kept: executors or lag are unknown", evidence), kept
        if kept["resized_s"] is not None and 0 <= now - kept["resized_s"] < self.cooldown_s:
            left_s = self.cooldown_s - (now - kept["resized_s"])
            return hold(observation, f"cooling down for {left_s:.0f} s more", evidence), kept
        # A high but falling lag is already being worked off.
        if lag_s > self.latency_threshold_s and slope is not None and slope > 0:
            return self._up(observation, executors, evidence), kept
        if self._over_provisioned(observation, lag_s):
            fewer = max(1, math.floor(round(executors * (1 - self.scale_down), 9)))
            target, why = min(observation.size or 1, fewer), f"{self.scale_down:.0%} fewer"
            reason = f"over-provisioned: {why}"
            return Decision(target=target, reason=reason, evidence=evidence), kept
        return hold(observation, "neither under- nor over-provisioned", evidence), kept

    def _up(
        self, observation: Observation, executors: int, evidence: dict[str, float | None]
    ) -> Decision:
        rate = observation.input_rows_per_s
        name = "output_rows_per_s" if self.throughput == "sink" else "processed_rows_per_s"
        throughput: float | None = getattr(observation, name)
        if rate is None or not throughput:
            absent = "input_rows_per_s" if rate is None else name
            why = f"size kept: rows wait, but {absent} is unknown or 0"
            return hold(observation, why, evidence)
        wanted = math.ceil(round(executors * rate / throughput * (1 + self.factor), 9))
        reason = (
            f"rows wait {observation.wait_s:.1f} s and lag grows: {rate:,.0f} rows/s arrive,"
            f" {throughput:,.0f} get through, {counted(wanted, 'executor')} needed"
        )
        return Decision(
            target=max(observation.size or 1, wanted),
            reason=reason,
            evidence={**evidence, "throughput": throughput},
        )

    def _over_provisioned(self, observation: Observation, lag_s: float) -> bool:
        suspended, cpu = suspended_share(observation, self.slo), observation.cpu
        if suspended is None or cpu is None:
            return False
        is_calm = suspended * 1000 < self.backpressure_ms and lag_s < self.latency_threshold_s
        return is_calm and cpu < self.cpu_threshold

    def _remember(self, observation: Observation, memory: Memory) -> dict[str, Any]:
        now, rows = observation.t_s, queued_rows(observation)
        at_s, change = resized(observation, memory)
        # A change of size does not reset the window, because the cooldown is longer than the
        # window.
        lag = within(memory.get("lag", ()), now, self.window_s)
        return {
            "lag": lag if rows is None else [*lag, (now, rows)],
            "resized_s": at_s if change else memory.get("resized_s"),
            "seen": latest_size(observation),
        }
