"""The gauges of one observation, including the metrics of the source documents by their names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rheostat.config import MetricOptions
from rheostat.metrics.catalog import SIGNALS
from rheostat.model import Memory, Observation
from rheostat.policies.rules.kubernetes import Reading
from rheostat.policies.rules.varga import VargaV1, VargaV2
from rheostat.signals.lag import queued_rows
from rheostat.signals.true_rates import job_true_rate


@dataclass(frozen=True, slots=True)
class Gauges:
    """Computes gauges from observations, with the windows and the threshold of ``options``."""

    options: MetricOptions

    def of(
        self, observation: Observation, memory: Memory
    ) -> tuple[dict[str, float], dict[str, Memory]]:
        """Return the current gauges by name without prefix, and the windows to remember."""
        first, second = self._policies()
        plain, plain_kept = first.readings(observation, memory.get("v1", {}))
        calm, calm_kept = second.readings(observation, memory.get("v2", {}))
        flying = observation.in_flight
        values: dict[str, float | None] = {
            "utilization": _value(plain["utilization"]),
            "utilization_calm": _value(calm["utilization"]),
            "gated_lag_change": _value(plain["lag"]),
            "gated_lag_change_calm": _value(calm["lag"]),
            "relative_lag_change": self._relative(first, observation, memory.get("v1", {})),
            "running_batch_seconds": flying.elapsed_s if flying else None,
            "true_processing_rate_rows_per_second": job_true_rate(observation),
        }
        observed = {name: getattr(observation, f.signal) for name, f in SIGNALS.items()}
        scaled = {
            name: None if value is None else value * SIGNALS[name].factor
            for name, value in observed.items()
        }
        return finite_values({**scaled, **values}), {"v1": plain_kept, "v2": calm_kept}

    def _policies(self) -> tuple[VargaV1, VargaV2]:
        given = self.options
        longer_s = max(VargaV2().down_window_s, 2 * given.calm_s)  # it only has to exceed calm_s
        return (
            VargaV1(threshold_rows=given.lag_threshold_rows, window_s=given.window_s),
            VargaV2(
                threshold_rows=given.lag_threshold_rows,
                window_s=given.window_s,
                cooldown_s=given.calm_s,
                down_window_s=longer_s,
            ),
        )

    def _relative(self, policy: VargaV1, observation: Observation, memory: Memory) -> float | None:
        rows = queued_rows(observation)
        if rows is None:
            return None
        # Below the threshold, eq. 4 is minus eq. 3; exactly at the threshold it is undefined.
        below = replace(policy, threshold_rows=rows + 1)
        lag = below.readings(observation, memory)[0]["lag"]
        return -lag.value if lag else None


def _value(reading: Reading | None) -> float | None:
    return reading.value if reading else None


def finite_values(values: Mapping[str, float | None]) -> dict[str, float]:
    """Return the values that are present and finite."""
    known = {name: float(value) for name, value in values.items() if value is not None}
    return {name: value for name, value in known.items() if math.isfinite(value)}
