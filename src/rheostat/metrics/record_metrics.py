"""Derives metrics from the records of a loop: counter increments, histogram observations, gauges.

A fold without side effects, so that a live job, a journal and a test give the same values.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version

from rheostat.config import MetricOptions
from rheostat.journal.events import NOT_EXECUTED, action_of, reason_class
from rheostat.journal.job_status import total
from rheostat.journal.starts import Start
from rheostat.journal.totals import Totals
from rheostat.metrics.catalog import PREFIX, SIGNALS
from rheostat.model import Memory, Observation, Record
from rheostat.policies.rules.hpa_algorithm import Reading
from rheostat.policies.rules.varga import VargaV1, VargaV2
from rheostat.signals.batch_ratio import batch_ratio
from rheostat.signals.lag import queued_rows
from rheostat.signals.true_rates import job_true_rate
from rheostat.state.assignment import Unit
from rheostat.state.places import holders_of

_MOST_FORECASTS = 1_000
_LEAST_RATE = 1e-3
"""Rows per second; the relative error of a forecast is not measured below this rate."""

OUTCOMES = ("completed", "superseded", "blocked")


@dataclass(frozen=True, slots=True)
class Sample:
    """A value of a metric: counter increment, histogram observation, or gauge value."""

    name: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Rescale:
    t_s: float
    direction: str
    target: int
    blocked: bool = False


class RecordMetrics:
    """Folds the records of one process into samples."""

    def __init__(self) -> None:
        self.options = MetricOptions()
        """Windows and threshold of the lag metrics; set by the control API."""
        self._windows: Memory = {}
        self._totals = Totals()
        self._target: int | None = None
        self._rescales_open: list[_Rescale] = []
        self._version = version("rheostat")
        self._batches: dict[str | None, tuple[object, ...]] = {}
        self._forecasts: deque[tuple[float, float]] = deque(maxlen=_MOST_FORECASTS)
        self._broker_up: bool | None = None
        self._holders: dict[Unit, str] = {}

    def samples(self, record: Record, start: Start | None) -> tuple[Sample, ...]:
        """Return the samples of the next record, with full metric names and the label
        ``application``; ``start`` has the settings in force, None if unknown.
        """
        observed = record.observation
        names = (source.application for source in (start, observed) if source)
        application = next(filter(None, names), "")
        decision = {"action": action_of(record), "reason": reason_class(record)}
        parts = (
            [Sample("decisions_total", 1.0, decision)],
            self._rescales(record),
            self._failures(record),
            self._state_moves(record),
            self._totals_of(record, start),
            self._batch_times(record),
            self._forecast_errors(record),
            self._gauges(record, start),
        )
        return tuple(
            Sample(PREFIX + s.name, s.value, {"application": application, **s.labels})
            for part in parts
            for s in part
        )

    def _rescales(self, record: Record) -> Iterator[Sample]:
        """Follow each change of the target until its executors are registered or it is reversed."""
        observed, phase = record.observation, record.rescaling.phase
        if record.target is None or observed is None or phase in NOT_EXECUTED:
            return
        if self._target is None:  # a counter must start at 0 to show its first increment
            yield from (_finished(d, outcome, 0.0) for d in ("out", "in") for outcome in OUTCOMES)
        before = self._target or observed.size or record.target
        direction = _direction(before, record.target)
        pending, self._rescales_open = self._rescales_open, []
        for rescale in pending:
            blocked = rescale.blocked or phase == "blocked"
            if _arrived(rescale, observed.executors):
                yield _finished(rescale.direction, "completed")
                if rescale.direction == "out":
                    yield Sample("executor_arrival_seconds", max(0.0, record.t_s - rescale.t_s))
            elif direction not in ("", rescale.direction):
                yield _finished(rescale.direction, "blocked" if blocked else "superseded")
            else:
                self._rescales_open.append(replace(rescale, blocked=blocked))
        if direction:
            self._rescales_open.append(_Rescale(record.t_s, direction, record.target))
        self._target = record.target

    def _failures(self, record: Record) -> Iterator[Sample]:
        if record.rescaling.phase == "failed":
            kind = re.match(r"\w+", record.rescaling.detail)
            yield Sample("failures_total", 1.0, {"kind": kind[0] if kind else "unknown"})
        up = record.observation.broker_up if record.observation else None
        if up is False and self._broker_up is not False:
            yield Sample("failures_total", 1.0, {"kind": "broker_unreachable"})
        self._broker_up = self._broker_up if up is None else up

    def _state_moves(self, record: Record) -> Iterator[Sample]:
        places = record.rescaling.places
        if not places:
            return
        holders = holders_of(places)
        moves = sum(self._holders.get(unit, to) != to for unit, to in holders.items())
        # A partition without a holder while it moves counts when it has a holder again.
        known = {unit: to for unit, to in self._holders.items() if unit[0] in places}
        self._holders = known | holders
        yield Sample("state_moves_total", moves)

    def _totals_of(self, record: Record, start: Start | None) -> Iterator[Sample]:
        if self._totals.last_t_s is not None and record.t_s < self._totals.last_t_s:
            self._totals = Totals()  # the clock was set back: the time between is unknown
        self._totals.days = {}
        self._totals.fold(record, [start] if start else [])
        passed = total(self._totals.days)
        yield Sample("rows_total", passed.rows)
        yield Sample("late_rows_total", passed.late_rows)
        yield Sample("slot_seconds_total", passed.slot_s)

    def _batch_times(self, record: Record) -> Iterator[Sample]:
        for query in record.queries or ((record.observation,) if record.observation else ()):
            batch = (query.batch_s, query.batch_rows, query.batch_parts_s, query.latency_s)
            if batch == self._batches.get(query.query):
                continue
            self._batches[query.query] = batch
            if query.batch_s is not None:
                yield Sample("batch_duration_seconds", query.batch_s)
            if query.latency_s is not None:
                yield Sample("row_latency_seconds", query.latency_s)

    def _forecast_errors(self, record: Record) -> Iterator[Sample]:
        due = None
        while self._forecasts and self._forecasts[0][0] <= record.t_s:
            due = self._forecasts.popleft()[1]
        rate = record.observation.input_rows_per_s if record.observation else None
        if due is not None and rate and rate >= _LEAST_RATE:
            yield Sample("forecast_error_ratio", abs(due - rate) / rate)
        evidence = record.raw.evidence if record.raw else {}
        ahead_s, forecast = evidence.get("forecast_s"), evidence.get("forecast_rows_per_s_p50")
        if isinstance(ahead_s, int | float) and isinstance(forecast, int | float):
            self._forecasts.append((record.t_s + ahead_s, float(forecast)))

    def _gauges(self, record: Record, start: Start | None) -> Iterator[Sample]:
        values: dict[str, float | None] = {
            "last_tick_timestamp_seconds": record.t_s,
            "halted": float(record.rescaling.phase == "halted"),
            "blocked": float(record.rescaling.phase == "blocked"),
            "wanted_executors": record.raw.target if record.raw else None,
        }
        if start:
            values |= {
                "slo_seconds": start.slo_s,
                "min_executors": start.min_executors,
                "max_executors": start.max_executors,
            }
            names = {"policy": start.policy, "mode": start.mode, "version": self._version}
            yield Sample("info", 1.0, names)
        bound = record.raw.evidence.get("binds") if record.raw else None
        if bound:
            yield Sample("bound", 1.0, {"by": str(bound)})
        if record.observation is not None:
            ratio = batch_ratio(record.observation, start.slo_s) if start else None
            values["batch_processing_ratio"] = ratio
            signals, self._windows = observed_gauges(
                self.options, record.observation, self._windows
            )
            values |= signals
        yield from (Sample(name, value) for name, value in finite_values(values).items())


def _arrived(rescale: _Rescale, executors: int | None) -> bool:
    if executors is None:
        return False
    return (
        executors >= rescale.target if rescale.direction == "out" else executors <= rescale.target
    )


def _direction(before: int, target: int) -> str:
    """Return the direction of a change of size; empty without a change."""
    if target == before:
        return ""
    return "out" if target > before else "in"


def _finished(direction: str, outcome: str, count: float = 1.0) -> Sample:
    return Sample("rescales_total", count, {"direction": direction, "outcome": outcome})


def observed_gauges(
    options: MetricOptions, observation: Observation, memory: Memory
) -> tuple[dict[str, float], dict[str, Memory]]:
    """Return the current gauges by name without prefix, and the windows to remember; the lag
    metrics have the windows and the threshold of ``options``.
    """
    first = VargaV1(threshold_rows=options.lag_threshold_rows, window_s=options.window_s)
    second = VargaV2(
        threshold_rows=options.lag_threshold_rows,
        window_s=options.window_s,
        cooldown_s=options.calm_s,
        # It only has to exceed calm_s.
        down_window_s=max(VargaV2().down_window_s, 2 * options.calm_s),
    )
    plain, plain_kept = first.readings(observation, memory.get("v1", {}))
    calm, calm_kept = second.readings(observation, memory.get("v2", {}))
    flying = observation.in_flight
    values: dict[str, float | None] = {
        "utilization": _value(plain["utilization"]),
        "utilization_calm": _value(calm["utilization"]),
        "gated_lag_change": _value(plain["lag"]),
        "gated_lag_change_calm": _value(calm["lag"]),
        "relative_lag_change": _relative_lag_change(first, observation, memory.get("v1", {})),
        "running_batch_seconds": flying.elapsed_s if flying else None,
        "true_processing_rate_rows_per_second": job_true_rate(observation),
    }
    observed = {name: getattr(observation, f.signal) for name, f in SIGNALS.items()}
    scaled = {
        name: None if value is None else value * SIGNALS[name].factor
        for name, value in observed.items()
    }
    return finite_values({**scaled, **values}), {"v1": plain_kept, "v2": calm_kept}


def _relative_lag_change(policy: VargaV1, observation: Observation, memory: Memory) -> float | None:
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
