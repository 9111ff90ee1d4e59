"""Combines the observations of an application's queries into one, because they share executors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from rheostat.errors import BadInput
from rheostat.model import Observation, Slo, Stage, by_query
from rheostat.ports import Sensor


def combine(queries: Sequence[Observation]) -> Observation | None:
    """Return the application's observation: rates, lag and state summed, times of the slowest
    query.

    Rows and stages count for the slowest query's interval. A sum is absent if one summand is.
    Backlog and times of a query with a laxer objective count in proportion: with objectives of 10
    and 60 s, a latency of 30 s as 5 s. The interval is that of a query with the strictest one. The
    latency is that of the queries with the highest priority: only their late rows spend the error
    budget.
    """
    if not queries:
        return None
    queries = [_in_proportion(query) for query in queries]
    if len(queries) == 1:
        return queries[0]
    # Slowest relative to its own interval: a batch of 4 s is late for a trigger of 2 s, not for 10
    # s.
    slowest = max(queries, key=lambda query: (query.objective_share or 1.0, _load(query)))
    shares = [_relative_batch_rate(slowest, query) for query in queries]
    lag_s = _most(q.lag_s for q in queries)
    return replace(
        slowest,
        # The name of the slowest query would be wrong for sums over all of them.
        query=None,
        objective_share=None,
        priority=None,
        input_rows_per_s=_sum(q.input_rows_per_s for q in queries),
        inputs=_named((q, q.inputs) for q in queries),
        processed_rows_per_s=_sum(q.processed_rows_per_s for q in queries),
        output_rows_per_s=_sum(q.output_rows_per_s for q in queries),
        lag_rows=_sum(q.lag_rows for q in queries),
        lag_by_source=_named((q, q.lag_by_source) for q in queries),
        # Bytes of one query and files of another cannot be added.
        lag_counted=None,
        lag_unit=None,
        lag_s=lag_s,
        lag_mean_s=_most(q.lag_mean_s for q in queries),
        # If the wait of one query is an estimate, so is the maximum.
        lag_littles_law_s=_most(q.wait_s for q in queries) if lag_s is None else None,
        latency_s=_most(q.latency_s for q in most_important(queries)),
        state_rows=_total(q.state_rows for q in queries),
        state_bytes=_total(q.state_bytes for q in queries),
        batch_rows=_rows(queries, shares),
        real_time_s=max((q.real_time_s for q in queries if q.real_time_s), default=None),
        stages=_stages(queries, shares),
        in_flight=max(
            (q.in_flight for q in queries if q.in_flight),
            key=lambda batch: batch.elapsed_s,
            default=None,
        ),
    )


def priorities(given: object) -> Mapping[str, float]:
    """Return the priority of each named query: of ``{"orders": 2}`` or the text ``orders=2``.

    Raises BadInput for anything but a positive number per query.
    """
    try:
        named = by_query(given) if isinstance(given, str) else given
    except ValueError:
        named = given
    if isinstance(named, Mapping) and all(map(_is_priority, named.values())):
        return dict(named)
    raise BadInput(
        f"priority must be a positive number by query, such as orders=2, but it is {given!r}"
    )


def _is_priority(given: object) -> bool:
    return isinstance(given, int | float) and given is not True and 0 < given < math.inf


def most_important(queries: Sequence[Observation]) -> list[Observation]:
    """Return the queries with the highest priority; those without one have priority 1."""
    highest = max((query.priority or 1.0 for query in queries), default=1.0)
    return [query for query in queries if (query.priority or 1.0) == highest]


class WithObjectives(Sensor):
    """A sensor whose observations state how strict the objective of their query is, and its
    priority.
    """

    def __init__(
        self, sensor: Sensor, slo: Slo, priority: Mapping[str, float] | None = None
    ) -> None:
        self._sensor = sensor
        self._priority = priority or {}
        self._shares = {
            name: slo.latency_s / own_s for name, own_s in slo.queries if own_s > slo.latency_s
        }

    def observe(self, now: float) -> Sequence[Observation]:
        """Return the observations of the sensor with their ``objective_share`` and ``priority``."""
        return [
            replace(
                query,
                objective_share=self._shares.get(query.query or ""),
                priority=self._priority.get(query.query or "", 1.0) if self._priority else None,
            )
            for query in self._sensor.observe(now)
        ]

    def close(self) -> None:
        """Close the sensor."""
        self._sensor.close()


def _in_proportion(query: Observation) -> Observation:
    share, running = query.objective_share, query.in_flight
    if share is None:
        return query
    if running:
        rows = None if running.rows is None else round(share * running.rows)
        running = replace(running, elapsed_s=share * running.elapsed_s, rows=rows)
    return replace(
        query,
        in_flight=running,
        lag_rows=_times(query.lag_rows, share),
        lag_s=_times(query.lag_s, share),
        lag_mean_s=_times(query.lag_mean_s, share),
        lag_littles_law_s=_times(query.lag_littles_law_s, share),
        latency_s=_times(query.latency_s, share),
    )


def _named(
    maps: Iterable[tuple[Observation, Mapping[str, float] | None]],
) -> dict[str, float] | None:
    named = {
        f"{query.query}/{source}": rows
        for query, by_source in maps
        for source, rows in (by_source or {}).items()
    }
    return named or None


def _relative_batch_rate(slowest: Observation, query: Observation) -> float:
    """Return the query's batches per batch of the slowest query; 1 if unknown."""
    slowest_s, query_s = _interval_s(slowest), _interval_s(query)
    # An unknown interval counts as equal: leaving the query out would give too small a size.
    return slowest_s / query_s if slowest_s and query_s else 1.0


def _interval_s(query: Observation) -> float:
    return max(query.batch_s or 0.0, query.trigger_s or 0.0)


def _rows(queries: Sequence[Observation], shares: Sequence[float]) -> int | None:
    rows = _sum(
        None if query.batch_rows is None else share * query.batch_rows
        for query, share in zip(queries, shares, strict=True)
    )
    return None if rows is None else round(rows)


def _times(number: float | None, share: float) -> float | None:
    return None if number is None else number * share


def _stages(queries: Sequence[Observation], shares: Sequence[float]) -> tuple[Stage, ...] | None:
    """Return all stages, prefixed with their query's name; None if a query reports none."""
    if any(query.stages is None for query in queries):
        return None
    return tuple(
        replace(
            stage,
            name=f"{query.query}/{stage.name}",
            rows_in=_times(stage.rows_in, share),
            rows_out=_times(stage.rows_out, share),
            busy_s=_times(stage.busy_s, share),
            upstream=tuple(f"{query.query}/{name}" for name in stage.upstream),
        )
        for query, share in zip(queries, shares, strict=True)
        for stage in query.stages or ()
    )


def _load(query: Observation) -> float:
    return (query.batch_s or 0.0) / (query.trigger_s or 1.0)


def _sum(values: Iterable[float | None]) -> float | None:
    return fold(values, sum)


def _most(values: Iterable[float | None]) -> float | None:
    return fold(values, max)


def _total(values: Iterable[int | None]) -> int | None:
    total = fold(values, sum)
    return None if total is None else int(total)


def fold(values: Iterable[float | None], into: Callable[[list[float]], float]) -> float | None:
    """Return the sum or extreme of values; None without values, or if one is absent."""
    known = list(values)
    present = [value for value in known if value is not None]
    # One absent value makes the result absent, and no values at all are not a sum of 0.
    return into(present) if present and len(present) == len(known) else None
