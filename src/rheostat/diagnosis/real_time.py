"""The slots that a query in real-time mode needs, counted before it starts.

All stages of its batches run at the same time, so it needs a slot for each source partition and one
for each shuffle partition; with too few, Spark ends it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Finding
from rheostat.plural import counted
from rheostat.settings import PREFIX, conf_arguments
from rheostat.spark.application_start import broker_of
from rheostat.spark.internals.gateway import ABSENT
from rheostat.spark.internals.plans import explained, shuffle_partitions, stream_sources
from rheostat.spark.sensing.capabilities import configuration, is_connect, slots_per_executor

TOPIC = "slots of real-time mode"

CountPartitions = Callable[[Mapping[str, Any], Sequence[str]], int | None]
"""Returns the partitions of topics at the broker of a client configuration; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotNeed:
    """The name and the partitions (None: unknown) of each source, and those of each shuffle."""

    sources: tuple[tuple[str, int | None], ...]
    shuffles: tuple[int, ...]

    def finding(self, available: int | None, per_executor: int) -> Finding:
        """Return the slots needed in addition to the ``available`` ones (None: unknown); an
        executor has ``per_executor`` slots.
        """
        unknown = [name for name, count in self.sources if count is None]
        if unknown:
            line = (
                f"the partitions of {', '.join(unknown)} are unknown; with"
                f" {sum(self.shuffles)} shuffle partitions, a query needs that number plus one slot"
                " for each source partition"
            )
            return Finding(topic=TOPIC, state="idle", line=line)
        slots = sum(count or 0 for _, count in self.sources) + sum(self.shuffles)
        parts = [
            *(
                f"{counted(count or 0, 'source partition')} ({name})"
                for name, count in self.sources
            ),
            *(counted(count, "shuffle partition") for count in self.shuffles),
        ]
        line = f"a query needs {slots} slots before it starts: {' plus '.join(parts)}"
        if available is not None:
            line = f"{line}; {available} are available"
        if available is not None and slots <= available:
            return Finding(topic=TOPIC, state="good", line=line)
        setting = f"{PREFIX}limits.min={math.ceil(slots / per_executor)}"
        line = f"{line}; with fewer Spark ends the query"
        return Finding(topic=TOPIC, state="advice", line=line, setting=setting)


def frame_finding(spark: Any, frame: Any, count: CountPartitions | None = None) -> Finding:
    """Return the slots that a query of this streaming DataFrame needs; raises BadInput."""
    if getattr(frame, "isStreaming", None) is not True:
        raise BadInput(
            "frame= must be a streaming DataFrame, as spark.readStream.format('kafka')...load(),"
            f" but it is {frame!r:.80}"
        )
    if is_connect(spark):
        why = "unknown in a Spark Connect session; count them with: rheostat doctor --real-time"
        return Finding(topic=TOPIC, state="idle", line=why)
    kafka = conf_arguments(configuration(spark, PREFIX)).get("kafka")
    try:
        sources = tuple(_counted(stream_sources(frame), kafka, count or topic_partitions))
        shuffles = shuffle_partitions(explained(spark, frame))
    except ABSENT as fault:
        line = f"this Spark does not show the plan of a streaming DataFrame ({str(fault)[:100]})"
        return Finding(topic=TOPIC, state="idle", line=line)
    need = SlotNeed(sources=sources, shuffles=shuffles)
    return need.finding(int(spark.sparkContext.defaultParallelism), slots_per_executor(spark))


def topic_partitions(kafka: Mapping[str, Any], topics: Sequence[str]) -> int | None:
    """Return the number of partitions of topics; None without a topic, the library or an answer."""
    broker = broker_of(kafka)
    if broker is None:
        return None
    try:
        latest = broker.latest(topics)
    finally:
        broker.close()
    return None if latest is None else len(latest)


def _counted(
    sources: Sequence[Mapping[str, str]], kafka: Mapping[str, Any] | None, count: CountPartitions
) -> Iterator[tuple[str, int | None]]:
    """Yield the name and the number of partitions of each source."""
    for source in sources:
        if source["format"] != "kafka":
            yield source["format"], None
        elif "assign" in source:
            yield source["assign"], _assigned(source["assign"])
        elif "subscribe" in source:
            topics = [topic.strip() for topic in source["subscribe"].split(",")]
            servers = {"bootstrap.servers": source.get("kafka.bootstrap.servers", "")}
            yield ", ".join(topics), count(kafka or servers, topics)
        else:
            yield f"topics that match {source.get('subscribePattern', '')!r}", None


def _assigned(partitions: str) -> int | None:
    """Return the number of partitions in Kafka's option ``assign``; None if it is not valid."""
    try:
        return sum(map(len, json.loads(partitions).values()))
    except (ValueError, AttributeError, TypeError):
        return None
