"""Examines a running session: supported features, and its queries' configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal

from rheostat.clusters.registry import cluster_manager
from rheostat.diagnosis.hosting import platform_findings
from rheostat.diagnosis.memory_use import memory_findings, memory_use
from rheostat.diagnosis.real_time import frame_finding
from rheostat.journal.bindings import bindings, finding_of
from rheostat.model import Finding, Limits, Observation
from rheostat.protocols.release import SETTLE_S
from rheostat.settings import PREFIX
from rheostat.spark.internals.coordinator import Coordinator
from rheostat.spark.internals.internals import Internals, internals_of
from rheostat.spark.internals.stream_executions import Queries
from rheostat.spark.resizing.placement_soaks import placement_verdict
from rheostat.spark.running_queries import continuous_line
from rheostat.spark.sensing.capabilities import configuration, is_connect, is_local, obstacles
from rheostat.spark.sensing.progress import ReportedBatch, batch_of, stage_tasks
from rheostat.spark.sensing.query_shape import (
    CHANGELOG,
    FILES,
    PROVIDER,
    SHUFFLE_PARTITIONS,
    Query,
    shape,
)
from rheostat.spark.warming.warm_start import of_session

_SETTINGS = (SHUFFLE_PARTITIONS, PROVIDER, CHANGELOG, FILES)


class Findings(tuple[Finding, ...]):
    """Findings that print as text, one per line."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(
            f"{finding.state:6} {finding.topic}: {finding.line}"
            + (f"\n       {finding.setting}" if finding.setting else "")
            for finding in self
        )

    __repr__ = __str__


def examine(spark: Any, frame: Any = None) -> Findings:
    """Return what a session and its queries support and should change, without changing it.

    ``frame`` is a streaming DataFrame that is to be started in real-time mode: the slots that its
    query needs are counted. Raises BadInput for another value.
    """
    before_start = () if frame is None else (frame_finding(spark, frame),)
    settings = {
        name: value for name in _SETTINGS if (value := spark.conf.get(name, None)) is not None
    }
    internals = None if is_connect(spark) else internals_of(spark)
    known_by = internals.queries if internals else None
    queries: list[Query | None] = [
        known for query in spark.streams.active if (known := _query(spark, known_by, query))
    ]
    advice = [
        finding
        for query in queries or [None]
        for finding in shape(settings, query, spark_version=spark.version)
    ]
    fleet: tuple[Finding, ...] = ()
    if internals and not is_local(spark):
        fleet = (
            *_cluster_findings(spark, internals),
            *_placement(spark, internals.coordinator),
            *_arrivals(spark),
            *_memory(spark, internals),
        )
    bound = () if is_connect(spark) else bindings(_progress(spark))
    return Findings(
        (
            *_scaling(spark),
            *(_release(spark, internals.queries) if internals else ()),
            *platform_findings(_settings(spark), os.environ),
            *before_start,
            *(_real_time(spark, internals.queries) if internals else ()),
            *fleet,
            *dict.fromkeys(advice),
            *(finding_of(binding) for binding in bound),
        )
    )


def _real_time(spark: Any, queries: Queries) -> Iterator[Finding]:
    """Yield the slots that queries in real-time mode hold, with the slots of the session."""
    for query in spark.streams.active:
        batch_s = queries.real_time_s(query)
        if batch_s is None:
            continue
        done, left = stage_tasks(spark.sparkContext.statusTracker())
        held = f"{(done or 0) + (left or 0)} slots" if left else "its slots"
        line = (
            f"batches of {batch_s:g} s hold {held} at once (source partitions plus shuffle"
            f" partitions) of {spark.sparkContext.defaultParallelism}; executors are not removed"
        )
        yield Finding(topic=f"real-time mode of {query.name or query.id}", state="good", line=line)


def _settings(spark: Any) -> dict[str, str]:
    """Return the settings with which an application was started; empty in a Connect session."""
    return {} if is_connect(spark) else dict(spark.sparkContext.getConf().getAll())


def _progress(spark: Any) -> Iterator[Observation]:
    """Yield the recent batches of all queries as observations, with the current slots."""
    slots = int(spark.sparkContext.defaultParallelism)
    for query in spark.streams.active:
        for event in query.recentProgress:
            batch = batch_of(event)
            yield Observation(
                t_s=batch.start_s,
                query=batch.query,
                executors=slots,
                slots_per_executor=1,
                batch_s=batch.duration_s,
                batch_rows=batch.rows,
                batch_parts_s=batch.parts_s,
            )


def _scaling(spark: Any) -> list[Finding]:
    obstacle = obstacles(spark)
    lines = [
        Finding(topic="live scaling", state="idle", line=line)
        for line in (*obstacle.blocking, *obstacle.degrading)
    ]
    return lines or [
        Finding(topic="live scaling", state="good", line="executors can be added and removed")
    ]


def _release(spark: Any, queries: Queries) -> Iterator[Finding]:
    """Yield whether executors are released between runs, if the settings request it (min 0)."""
    setting = f"{PREFIX}limits.min"
    if configuration(spark, setting).get(setting, "").strip() != "0":
        return
    topic = "no executors between runs"
    reasons = list(obstacles(spark).blocking)
    if reasons:
        yield Finding(topic=topic, state="idle", line=reasons[0])
        return
    lines = [line for query in spark.streams.active if (line := continuous_line(query, queries))]
    for line in lines:
        yield Finding(topic=topic, state="advice", line=line, setting=f"{setting}=1")
    if not lines:
        line = (
            f"all executors are released {SETTLE_S:g} s after the last query and job; the first"
            " batch of the next run waits until new ones have started"
        )
        yield Finding(topic=topic, state="good", line=line)


def _cluster_findings(spark: Any, internals: Internals) -> Iterator[Finding]:
    """Yield whether executors cannot reach this driver, and what prevents their graceful end."""
    context = spark.sparkContext
    manager, get = cluster_manager(context.master), context.getConf().get
    # Pods that are processes of this computer reach its loopback addresses.
    if not internals.executors.registered():
        yield from manager.address_findings(get, spark.version)
    yield from manager.findings(get, Limits().max_executors, spark.version)


def _placement(spark: Any, coordinator: Coordinator) -> list[Finding]:
    """Return whether state is placed on the executors."""
    verdict = placement_verdict(spark, coordinator, "auto")
    state: Literal["good", "idle"] = "good" if verdict.places else "idle"
    return [Finding(topic="state placement", state=state, line=verdict.why)]


def _arrivals(spark: Any) -> list[Finding]:
    """Return whether new executors start warm or cold."""
    topic, warm = "new executors", of_session(spark)
    if warm is None:
        why = (
            "they start cold: only rheostat run and the lab, on a local cluster with a JDK, start"
            " them from a class archive"
        )
        return [Finding(topic=topic, state="idle", line=why)]
    line = (
        "they start from a class archive of this application"
        if warm.trained
        else "the next executor that leaves creates a class archive"
    )
    return [Finding(topic=topic, state="good", line=line)]


def _memory(spark: Any, internals: Internals) -> Iterator[Finding]:
    """Yield the executors' memory problems, with the setting that corrects each."""
    events = [event for query in spark.streams.active for event in query.recentProgress]
    return memory_findings(memory_use(internals.status, events, _settings(spark)))


def _query(spark: Any, known_by: Queries | None, query: Any) -> Query | None:
    """Return the shape of a stateful query; None without state or before its first batch."""
    batches = [batch_of(event) for event in query.recentProgress[-20:]]
    if not batches or not batches[-1].state_partitions:
        return None
    return Query(
        name=batches[-1].query,
        state_partitions=batches[-1].state_partitions,
        slots=_slots(spark),
        trigger_s=known_by.trigger_s(query) if known_by else None,
        reads_all=_reads_all(batches),
    )


def _reads_all(batches: list[ReportedBatch]) -> bool | None:
    """Return whether every batch read up to the broker's newest row; None without Kafka offsets."""
    known = [batch for batch in batches if batch.latest]
    return all(batch.committed == batch.latest for batch in known) if known else None


def _slots(spark: Any) -> int | None:
    """Return the slots at the application's maximum size; None if its settings do not define it."""
    cores = spark.conf.get("spark.cores.max", None)
    return int(cores) if cores and str(cores).isdecimal() else None
