"""The ticks of a job as time series: records are folded into buckets, and buckets into the columns
of a chart.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any

from rheostat.journal.binding_constraint import applied_guard
from rheostat.journal.explanation import kind_of_reason
from rheostat.journal.starts import Start, start_at
from rheostat.journal.totals import Day, longest_gap_s, mean_parts, pass_rows
from rheostat.model import Observation, Record
from rheostat.signals.forecasts.forecast import HORIZONS_S

SCHEMA = 1
_DIGITS = 5
MEANS = (
    *("rate", "forecast_p50", "forecast_p90", "forecast_p99", "executors", "wanted", "target"),
    *("lag_rows", "lag_s", "latency_p50", "busy"),
)
MAXIMA = ("rate_max", "lag_rows_max", "latency_p99", "running_s")


@dataclass(slots=True, kw_only=True)
class Bucket:
    """The aggregate of the ticks from ``t_s`` to ``end_s`` (Unix seconds); None is unknown.

    Means are over ticks, latencies over the rows of batches. ``rows`` and ``late_rows`` are those
    since the previous tick. The forecast is for ``lead_s`` later. ``parts_s`` are the mean phases
    of a batch, ``lags`` the backlogs by query. ``events`` are changes as (time, size before,
    target, guard, reason); ``reasons`` count the reasons for no change.
    """

    t_s: float
    end_s: float
    ticks: int = 0
    rate: float | None = None
    rate_max: float | None = None
    forecast_p50: float | None = None
    forecast_p90: float | None = None
    forecast_p99: float | None = None
    lead_s: float | None = None
    executors: float | None = None
    wanted: float | None = None
    target: float | None = None
    lag_rows: float | None = None
    lag_rows_max: float | None = None
    lag_s: float | None = None
    latency_p50: float | None = None
    latency_p99: float | None = None
    running_s: float | None = None
    busy: float | None = None
    rows: float = 0.0
    late_rows: float = 0.0
    parts_s: dict[str, float] = field(default_factory=dict)
    lags: dict[str, float] = field(default_factory=dict)
    events: list[list[Any]] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)


_FIELDS = tuple(item.name for item in fields(Bucket))


def to_line(bucket: Bucket) -> str:
    """Return a bucket as one line of JSON."""
    return json.dumps([SCHEMA, *(_rounded(getattr(bucket, name)) for name in _FIELDS)])


def from_line(line: str) -> Bucket | None:
    """Return the bucket of a line; None for a truncated line or another schema."""
    try:
        schema, *values = json.loads(line)
        if schema != SCHEMA or len(values) != len(_FIELDS):
            return None
        return Bucket(**dict(zip(_FIELDS, values, strict=True)))
    except (ValueError, TypeError):
        return None


class Fold:
    """Folds records into buckets of ``width_s`` seconds; 0 makes one bucket per record."""

    def __init__(self, width_s: float, starts: Sequence[Start]) -> None:
        self.starts = starts
        self._width_s = width_s
        self._ticks: list[Record] = []
        self._passed_s: list[float] = []
        self._last_t_s: float | None = None
        self._before: tuple[Any, ...] | None = None
        self._events: list[list[Any]] = []

    def add(self, record: Record) -> Bucket | None:
        """Add a record, and return the bucket that it completes, or None."""
        done = None
        if self._ticks and self._place(record.t_s) != self._place(self._ticks[0].t_s):
            done = self.rest()
        start = start_at(self.starts, record.t_s)
        passed_s = record.t_s - (record.t_s if self._last_t_s is None else self._last_t_s)
        self._passed_s.append(passed_s if 0 < passed_s <= longest_gap_s(start) else 0.0)
        self._ticks.append(record)
        self._last_t_s = record.t_s
        self._events += self._event(record)
        return done

    def rest(self) -> Bucket | None:
        """Return the incomplete bucket, and begin another."""
        if not self._ticks:
            return None
        bucket = _bucket(self._ticks, self._passed_s, self.starts)
        bucket.events, self._events = self._events, []
        self._ticks, self._passed_s = [], []
        return bucket

    def _place(self, t_s: float) -> float:
        return t_s // self._width_s if self._width_s else t_s

    def _event(self, record: Record) -> list[list[Any]]:
        """Return the change that a record makes; starting executors are no further change."""
        size = record.size
        halted = record.rescaling.phase == "halted"
        before, self._before = self._before, (size, record.target, halted)
        was_halted = before[2] if before else False
        if halted != was_halted:
            word = "halted" if halted else "resumed"
            return [[record.t_s, size, record.target, word, record.rescaling.detail]]
        if record.target is None or size in (None, record.target):
            return []
        if before is not None and before[:2] == (size, record.target):
            return []
        guard, reason = applied_guard(record), record.reason or record.rescaling.detail
        return [[record.t_s, size, record.target, guard.guard if guard else "", reason]]


def _bucket(ticks: Sequence[Record], passed_s: Sequence[float], starts: Sequence[Start]) -> Bucket:
    observations = [record.observation for record in ticks if record.observation]
    evidence = [record.raw.evidence for record in ticks if record.raw]
    bucket = Bucket(t_s=ticks[0].t_s, end_s=ticks[-1].t_s, ticks=len(ticks))
    for name, signal in (
        ("rate", "input_rows_per_s"),
        ("executors", "executors"),
        ("lag_rows", "lag_rows"),
        ("lag_s", "lag_s"),
        ("busy", "busy"),
    ):
        setattr(bucket, name, _mean([getattr(observed, signal) for observed in observations]))
    for name in ("p50", "p90", "p99"):
        values = [numbers.get(f"forecast_rows_per_s_{name}") for numbers in evidence]
        setattr(bucket, f"forecast_{name}", _mean(values))
    bucket.lead_s = _lead_s(evidence[-1] if evidence else {}, start_at(starts, bucket.end_s))
    bucket.rate_max = _max([observed.input_rows_per_s for observed in observations])
    bucket.lag_rows_max = _max([observed.lag_rows for observed in observations])
    bucket.running_s = _max([o.in_flight.elapsed_s if o.in_flight else None for o in observations])
    bucket.wanted = _mean([record.raw.target if record.raw else None for record in ticks])
    bucket.target = _mean([t.size if t.target is None else t.target for t in ticks])
    bucket.latency_p50, bucket.latency_p99 = _latencies(observations)
    day = Day()
    for record, seconds in zip(ticks, passed_s, strict=True):
        pass_rows(day, seconds, record, start_at(starts, record.t_s))
    bucket.rows, bucket.late_rows = day.rows, day.late_rows
    bucket.parts_s = mean_parts(observed.batch_parts_s for observed in observations)
    bucket.parts_s.pop("triggerExecution", None)
    if ticks[-1].queries[1:]:
        lags = {query.query or "": query.lag_rows for query in ticks[-1].queries}
        bucket.lags = {name: rows for name, rows in lags.items() if rows is not None}
    reasons = (record.reason or record.rescaling.detail for record in ticks)
    bucket.reasons = most_frequent({reason: 1} for reason in reasons)
    return bucket


def _lead_s(evidence: Any, start: Start | None) -> float | None:
    """Return the lead time of a decision's forecast: the horizon nearest to the start time of an
    executor plus one tick, as ``predictive`` chooses it.
    """
    start_s = evidence.get("start_s")
    if start_s is None:
        return None
    ahead_s = start_s + (start.interval_s if start else 0.0)
    return min(HORIZONS_S, key=lambda horizon_s: abs(horizon_s - ahead_s))


def _latencies(observations: Sequence[Observation]) -> tuple[float | None, float | None]:
    """Return the median and the 99th percentile of latency over the rows of the batches."""
    pairs = sorted(
        (observed.latency_s, max(1, observed.batch_rows or 1))
        for observed in observations
        if observed.latency_s is not None
    )
    if not pairs:
        return None, None
    reached = list(accumulate(rows for _, rows in pairs))
    p50, p99 = (pairs[bisect_left(reached, share * reached[-1])][0] for share in (0.5, 0.99))
    return p50, p99


def most_frequent(reasons: Iterable[Mapping[str, int]], most: int | None = 3) -> dict[str, int]:
    """Return the most frequent reasons with their counts; reasons that differ only in numbers count
    as one, with its newest wording.
    """
    texts: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for counted_texts in reasons:
        for text, count in counted_texts.items():
            kind = kind_of_reason(text)
            texts[kind] = text
            counts[kind] += count
    return {texts[kind]: count for kind, count in counts.most_common(most)}


def merge(buckets: Sequence[Bucket]) -> Bucket:
    """Merge consecutive buckets into one."""
    if len(buckets) == 1:
        return buckets[0]
    merged = Bucket(t_s=buckets[0].t_s, end_s=buckets[-1].end_s)
    merged.ticks = sum(bucket.ticks for bucket in buckets)
    for name in MEANS:
        pairs = [(getattr(bucket, name), bucket.ticks) for bucket in buckets]
        known = [(value, ticks) for value, ticks in pairs if value is not None]
        ticks = sum(count for _, count in known)
        setattr(merged, name, sum(v * count for v, count in known) / ticks if ticks else None)
    for name in MAXIMA:
        setattr(merged, name, _max([getattr(bucket, name) for bucket in buckets]))
    merged.lead_s = next((b.lead_s for b in reversed(buckets) if b.lead_s is not None), None)
    merged.rows = sum(bucket.rows for bucket in buckets)
    merged.late_rows = sum(bucket.late_rows for bucket in buckets)
    merged.lags = buckets[-1].lags
    merged.events = [event for bucket in buckets for event in bucket.events]
    merged.reasons = most_frequent(bucket.reasons for bucket in buckets)
    merged.parts_s = mean_parts(bucket.parts_s for bucket in buckets)
    return merged


def resample(buckets: Iterable[Bucket], width_s: float) -> Iterator[Bucket]:
    """Yield buckets merged to at least ``width_s`` seconds."""
    group: list[Bucket] = []
    for bucket in buckets:
        if group and bucket.t_s // width_s != group[0].t_s // width_s:
            yield merge(group)
            group = []
        group.append(bucket)
    if group:
        yield merge(group)


def columns(
    buckets: Sequence[Bucket], starts: Sequence[Start], most_gap_s: float
) -> dict[str, Any]:
    """Return buckets as columns for charts, all on the times of ``t``.

    A gap without ticks has one point of None. Forecasts are at the time to which they apply, with
    points after the last tick for future ones.
    """
    rows = list(_with_gaps(buckets, most_gap_s))
    times = [t_s for t_s, _ in rows]

    def column(value: Callable[[Bucket], float | None]) -> list[float | None]:
        return [_rounded(value(bucket)) if bucket else None for _, bucket in rows]

    table: dict[str, Any] = {}
    for name in (*MEANS, *MAXIMA):
        if not name.startswith("forecast"):
            table[name] = column(attrgetter(name))
    table["late"] = column(lambda bucket: bucket.late_rows / bucket.rows if bucket.rows else None)
    parts = sorted({part for _, bucket in rows if bucket for part in bucket.parts_s})
    table["parts_s"] = {
        part: [_rounded(bucket.parts_s.get(part)) if bucket else None for _, bucket in rows]
        for part in parts
    }
    sources = sorted({source for _, bucket in rows if bucket for source in bucket.lags})
    table["lags"] = {
        source: [_rounded(bucket.lags.get(source)) if bucket else None for _, bucket in rows]
        for source in sources
    }
    limits = [start_at(starts, t_s) or (starts[0] if starts else None) for t_s in times]
    table["floor"] = [start.min_executors if start else None for start in limits]
    table["ceiling"] = [start.max_executors if start else None for start in limits]
    table["slo_s"] = [start.slo_s if start else None for start in limits]
    table["t"] = times
    return _with_forecasts(table, buckets)


def _with_gaps(
    buckets: Sequence[Bucket], most_gap_s: float
) -> Iterator[tuple[float, Bucket | None]]:
    previous: Bucket | None = None
    for bucket in buckets:
        if previous is not None and bucket.t_s - previous.end_s > most_gap_s:
            yield (previous.end_s + bucket.t_s) / 2, None
        yield bucket.end_s, bucket
        previous = bucket


def _with_forecasts(table: dict[str, Any], buckets: Sequence[Bucket]) -> dict[str, Any]:
    """Add the forecasts at the times to which they apply; future times are appended."""
    made = [(b.end_s + b.lead_s, b) for b in buckets if b.lead_s is not None]
    times: list[float] = table["t"]
    last_s = times[-1] if times else -math.inf
    ahead = sorted({for_s for for_s, bucket in made if for_s > last_s and bucket.forecast_p50})
    length = len(times)
    for name, values in table.items():
        for column in values.values() if isinstance(values, dict) else [values]:
            column.extend(ahead if name == "t" else [None] * len(ahead))
    for name in ("p50", "p90", "p99"):
        in_order = sorted(made, key=lambda pair: pair[0])
        points = [(t_s, getattr(bucket, f"forecast_{name}")) for t_s, bucket in in_order]
        table[f"forecast_{name}"] = _at_times(times, points)
    table["now"] = times[length - 1] if length else None
    return table


def _at_times(
    times: Sequence[float], points: Sequence[tuple[float, float | None]]
) -> list[float | None]:
    """Return for each time the last point at or before it, or None if that is too old."""
    column: list[float | None] = []
    known_s = [t_s for t_s, _ in points]
    steps = [after - before for before, after in pairwise(times)]
    near_s = 3 * sorted(steps)[len(steps) // 2] if steps else math.inf
    for t_s in times:
        place = bisect_right(known_s, t_s + 1e-6)
        recent = points[place - 1] if place else None
        column.append(_rounded(recent[1]) if recent and t_s - recent[0] <= near_s else None)
    return column


def _mean(values: Sequence[Any]) -> float | None:
    known = [float(value) for value in values if isinstance(value, int | float)]
    return sum(known) / len(known) if known else None


def _max(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        # Times keep their milliseconds; a chart shows at most five digits of other values.
        return round(value, 3) if abs(value) > 1e7 else float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value
