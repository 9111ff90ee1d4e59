"""The gauges of an application, under one name everywhere: the agent's ``/metrics`` and
``/status``, the operator's ``external.metrics.k8s.io``, the rules for Prometheus.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rheostat.config import MetricOptions
from rheostat.model import Memory, Observation
from rheostat.policies.rules.varga import VargaV1, VargaV2
from rheostat.signals.lag import queued_rows

PREFIX = "rheostat_"

GAUGES: Mapping[str, str] = {
    "backpressure_ms_per_s": "largest time that an operator was blocked, milliseconds per second",
    "batch_s": "duration of the last batch, seconds",
    "broker_up": "1 while the Kafka brokers of kafka= answer, 0 while they do not",
    "busy": "share of slot time spent in tasks",
    "cpu": "CPU share per slot, JVM only",
    "executors": "registered executors",
    "gated_lag_change": "Varga et al., eq. 4: sign(lag - threshold) x relative lag change",
    "gated_lag_change_calm": "the same, 0 while executors have just changed (Koper, eq. 3.6)",
    "input_rows_per_s": "arrival rate at the sources, rows per second",
    "lag_rows": "rows that have arrived and are not committed, sum over partitions",
    "lag_rows_upper": "Varga et al., eq. 2: the upper bound of the lag, rows",
    "lag_littles_law_s": "estimate in place of an absent lag_s: lag over arrival rate, seconds",
    "lag_mean_s": "mean wait of the rows that are not committed, seconds",
    "lag_s": "wait of the oldest row that is not committed, seconds",
    "latency_s": "commit minus append, mean over the last batch, seconds",
    "output_rows_per_s": "rows written to the sink, rows per second",
    "processed_rows_per_s": "rows of the last batch over its duration, rows per second",
    "relative_lag_change": "Varga et al., eq. 3: 1 + deriv(lag) / consumed rate",
    "target": "target number of executors in force",
    "utilization": "Varga et al., eq. 5: share of time in use",
    "utilization_calm": "the same, 0 while executors have just changed (Koper, eq. 3.6)",
}
"""Every gauge by its name without the prefix, with its meaning and unit."""

_OBSERVED = tuple(name for name in GAUGES if name in Observation.__slots__)


@dataclass(frozen=True, slots=True)
class Gauges:
    """Computes gauges from observations, with the windows and the threshold of ``options``."""

    options: MetricOptions

    def of(
        self, observation: Observation, memory: Memory
    ) -> tuple[dict[str, float], dict[str, Memory]]:
        """Return the gauges that have a value now, and the windows to remember."""
        first, second = self._policies()
        plain, plain_kept = first.readings(observation, memory.get("v1", {}))
        calm, calm_kept = second.readings(observation, memory.get("v2", {}))
        gated = plain["lag"].value if plain["lag"] else None
        values = {
            **{name: getattr(observation, name) for name in _OBSERVED},
            "utilization": plain["utilization"].value if plain["utilization"] else None,
            "gated_lag_change": gated,
            "relative_lag_change": self._relative(first, observation, memory.get("v1", {})),
            "utilization_calm": calm["utilization"].value if calm["utilization"] else None,
            "gated_lag_change_calm": calm["lag"].value if calm["lag"] else None,
        }
        known = {name: float(value) for name, value in values.items() if value is not None}
        finite = {PREFIX + name: value for name, value in known.items() if math.isfinite(value)}
        return finite, {"v1": plain_kept, "v2": calm_kept}

    def _policies(self) -> tuple[VargaV1, VargaV2]:
        given = self.options
        longer_s = max(VargaV2().down_window_s, 2 * given.calm_s)  # it only has to be above calm_s
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
        # Below a threshold eq. 4 is minus eq. 3; at the threshold in force it has no value.
        below = replace(policy, threshold_rows=rows + 1)
        lag = below.readings(observation, memory)[0]["lag"]
        return -lag.value if lag else None
