"""One view of an application from the views of its queries: they share the executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from rheostat.model import Observation, Stage


def combine(queries: Sequence[Observation]) -> Observation | None:
    """Return the application's observation: rates, lag and state summed, times of the slowest
    query; None without queries.

    A sum is absent as soon as one summand is: a rate that leaves out a query would size for too
    little.
    """
    if not queries:
        return None
    if len(queries) == 1:
        return queries[0]
    slowest = max(queries, key=_load)
    return replace(
        slowest,
        query=None,
        input_rows_per_s=_sum(q.input_rows_per_s for q in queries),
        inputs={
            f"{q.query}/{source}": rate
            for q in queries
            for source, rate in (q.inputs or {}).items()
        }
        or None,
        processed_rows_per_s=_sum(q.processed_rows_per_s for q in queries),
        output_rows_per_s=_sum(q.output_rows_per_s for q in queries),
        lag_rows=_sum(q.lag_rows for q in queries),
        lag_s=_most(q.lag_s for q in queries),
        latency_s=_most(q.latency_s for q in queries),
        state_rows=_total(q.state_rows for q in queries),
        state_bytes=_total(q.state_bytes for q in queries),
        stages=_stages(queries),
        in_flight=max(
            (q.in_flight for q in queries if q.in_flight),
            key=lambda batch: batch.elapsed_s,
            default=None,
        ),
    )


def _stages(queries: Sequence[Observation]) -> tuple[Stage, ...] | None:
    """Return the stages of all queries, each under its query's name, as the sources are; None where
    one query shows none.
    """
    if any(query.stages is None for query in queries):
        return None
    return tuple(
        replace(
            stage,
            name=f"{query.query}/{stage.name}",
            upstream=tuple(f"{query.query}/{name}" for name in stage.upstream),
        )
        for query in queries
        for stage in query.stages or ()
    )


def _load(query: Observation) -> float:
    return (query.batch_s or 0.0) / (query.trigger_s or 1.0)


def _sum(values: Iterable[float | None]) -> float | None:
    return _fold(values, sum)


def _most(values: Iterable[float | None]) -> float | None:
    return _fold(values, max)


def _total(values: Iterable[int | None]) -> int | None:
    total = _fold(values, sum)
    return None if total is None else int(total)


def _fold(values: Iterable[float | None], fold: Callable[[list[float]], float]) -> float | None:
    known = list(values)
    present = [value for value in known if value is not None]
    return fold(present) if present and len(present) == len(known) else None
