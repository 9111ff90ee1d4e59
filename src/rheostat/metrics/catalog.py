"""All metrics by name, in Prometheus' conventions: base units, ``_total`` and ``_info``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.model import Observation

PREFIX = "rheostat_"
_SECONDS = (0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0)
_RATIOS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class Family:
    """A metric: ``kind`` is ``counter``, ``gauge`` or ``histogram``; ``labels`` come in addition to
    ``application``. A gauge with a ``signal`` is that field of an observation times ``factor``.
    """

    kind: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    signal: str = ""
    factor: float = 1.0


def _signal(signal: str, meaning: str, factor: float = 1.0) -> Family:
    if signal not in Observation.__slots__:
        raise LookupError(f"an observation has no field {signal}")
    return Family("gauge", meaning, signal=signal, factor=factor)


def _gauge(meaning: str, *labels: str) -> Family:
    return Family("gauge", meaning, labels)


_FAMILIES: Mapping[str, Family] = {
    "decisions_total": Family(
        "counter",
        "ticks by action (scale_out, scale_in, keep, none) and by what determined it: policy, the"
        " guard that set the target, cluster, the resource that binds (partitions, sink, ...), or"
        " why nothing was decided (halted, idle, failed)",
        ("action", "reason"),
    ),
    "rescales_total": Family(
        "counter",
        "finished rescales by direction (out, in) and outcome: completed (executors registered"
        " or left), superseded (reversed before that), or blocked (reversed while the cluster"
        " manager blocked it)",
        ("direction", "outcome"),
    ),
    "failures_total": Family(
        "counter",
        "failures by kind: the class of the exception that a tick raised, or broker_unreachable",
        ("kind",),
    ),
    "state_moves_total": Family(
        "counter", "state partitions that another executor holds than before, where state is placed"
    ),
    "rows_total": Family("counter", "rows that arrived while rate and latency were known"),
    "late_rows_total": Family("counter", "of these, rows that arrived while the job was late"),
    "slot_seconds_total": Family(
        "counter", "slot-seconds of registered and standby executors outside shadow mode"
    ),
    "batch_duration_seconds": Family(
        "histogram", "duration of a micro-batch; at most one batch per tick and query", (), _SECONDS
    ),
    "row_latency_seconds": Family(
        "histogram", "mean row latency of a micro-batch, commit minus append", (), _SECONDS
    ),
    "executor_arrival_seconds": Family(
        "histogram",
        "time from the decision to scale out until the executors registered",
        (),
        _SECONDS,
    ),
    "forecast_error_ratio": Family(
        "histogram",
        "absolute error of the median forecast relative to the arrival rate at its time",
        (),
        _RATIOS,
    ),
    "info": _gauge("1; the labels name policy, mode and version", "policy", "mode", "version"),
    "last_tick_timestamp_seconds": _gauge("time of the last tick, Unix time"),
    "halted": _gauge("1 while decisions are halted, else 0"),
    "blocked": _gauge("1 while the cluster manager blocks a rescale, else 0"),
    "bound": _gauge("1 for the resource because of which more executors would not help", "by"),
    "slo_seconds": _gauge("latency objective"),
    "min_executors": _gauge("floor of the number of executors"),
    "max_executors": _gauge("ceiling of the number of executors"),
    "wanted_executors": _gauge("executors that the policy wants, before the guards"),
    "executors": _signal("executors", "registered executors"),
    "target_executors": _signal("target", "target number of executors in force"),
    "slots_per_executor": _signal("slots_per_executor", "task slots of an executor"),
    "broker_up": _signal("broker_up", "1 while the Kafka brokers of kafka= answer, else 0"),
    "input_rows_per_second": _signal("input_rows_per_s", "arrival rate at the sources"),
    "processed_rows_per_second": _signal(
        "processed_rows_per_s", "rows of the last batch over its duration"
    ),
    "output_rows_per_second": _signal("output_rows_per_s", "rows written to the sink"),
    "true_processing_rate_rows_per_second": _gauge(
        "rows that the job would consume if it were always busy (Koper, 3.5; DS2)"
    ),
    "lag_rows": _signal("lag_rows", "rows that have arrived and are not committed"),
    "total_lag_rows": _signal("lag_rows_upper", "upper bound of the lag (Varga et al., eq. 2)"),
    "lag_seconds": _signal("lag_s", "wait of the oldest row that is not committed"),
    "event_time_lag_seconds": _signal(
        "lag_mean_s", "mean wait of the rows that are not committed (Koper: event-time lag)"
    ),
    "lag_littles_law_seconds": _signal(
        "lag_littles_law_s", "estimate in place of an absent lag_seconds: lag over arrival rate"
    ),
    "latency_seconds": _signal("latency_s", "commit minus append, mean over the last batch"),
    "last_batch_duration_seconds": _signal("batch_s", "duration of the last batch"),
    "trigger_interval_seconds": _signal("trigger_s", "trigger interval; 0: batches back to back"),
    "running_batch_seconds": _gauge("time that the running batch has taken so far"),
    "batch_processing_ratio": _gauge("batch time over batch interval (SPARK-12133: R)"),
    "busy_ratio": _signal("busy", "share of slot time spent in tasks"),
    "cpu_utilization_ratio": _signal("cpu", "CPU share per slot, JVM only"),
    "memory_bytes": _signal("memory_bytes", "peak memory over the executors"),
    "state_rows": _signal("state_rows", "rows of state over all stateful operators"),
    "state_bytes": _signal("state_bytes", "bytes of state over all stateful operators"),
    "state_partitions": _signal("state_partitions", "state partitions of an operator"),
    "backpressure_ratio": _signal(
        "backpressure_ms_per_s", "largest share of time that an operator was blocked", 0.001
    ),
    "utilization": _gauge("share of time in use (Varga et al., eq. 5)"),
    "utilization_calm": _gauge("the same, 0 while executors have just changed (Koper, eq. 3.6)"),
    "relative_lag_change": _gauge("1 + deriv(lag) / consumed rate (Varga et al., eq. 3)"),
    "gated_lag_change": _gauge("sign(lag - threshold) x relative lag change (Varga, eq. 4)"),
    "gated_lag_change_calm": _gauge(
        "the same, 0 while executors have just changed (Koper, eq. 3.6)"
    ),
}

FAMILIES: Mapping[str, Family] = {PREFIX + name: family for name, family in _FAMILIES.items()}
"""All metrics by their full names."""

SIGNALS: Mapping[str, Family] = {name: f for name, f in _FAMILIES.items() if f.signal}
"""The gauges that are a field of an observation, by their names without the prefix."""

GAUGES: tuple[str, ...] = tuple(
    name for name, family in FAMILIES.items() if family.kind == "gauge" and not family.labels
)
"""The gauges without labels of their own, which an HPA can read."""
