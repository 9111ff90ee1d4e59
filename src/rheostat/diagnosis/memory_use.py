"""Detects when more memory per executor helps more than more executors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rheostat.model import Finding
from rheostat.spark.sensing.rest import Pages

GC_SHARE = 0.1
"""Share of task time in garbage collection above which Spark's UI marks an executor."""

CACHE_HIT_RATE, CACHE_MISSES = 0.9, 1000
"""RocksDB's block cache is too small below this hit rate and from this number of misses per batch
(our own choice: a miss reads a block from the local disk, about 0.1 ms)."""

_MEMORY = "spark.executor.memory"
_CACHE = "spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB"
_HITS, _MISSES = "rocksdbReadBlockCacheHitCount", "rocksdbReadBlockCacheMissCount"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """Signs that an application's executors lack memory; None means unknown."""

    gc_share: float | None = None
    """Share of task time in garbage collection."""

    spilled_bytes: int | None = None
    cache_hit_rate: float | None = None
    """Hit rate of the block cache of RocksDB state stores."""

    cache_misses: float = 0.0
    """Mean number of misses per batch."""

    executor_memory: str = "1g"
    cache_mb: str = "8"


def memory_findings(use: MemoryUse) -> Iterator[Finding]:
    """Yield each memory problem with the setting that corrects it, or one good finding if memory
    was observed and suffices.
    """
    advice = [*_garbage_collection(use), *_spill(use), *_cache(use)]
    yield from advice
    if not advice and use.gc_share is not None:
        line = f"garbage collection takes {use.gc_share:.1%} of task time; nothing was spilled"
        yield Finding(topic="memory", state="good", line=line)


def memory_use(
    pages: Pages, progress: Iterable[Mapping[str, Any]], settings: Mapping[str, str]
) -> MemoryUse:
    """Return an application's memory use from its REST interface and its progress events."""
    executors = [one for one in pages.get("allexecutors") or () if one.get("id") != "driver"]
    task_ms = sum(executor.get("totalDuration", 0) for executor in executors)
    gc_ms = sum(executor.get("totalGCTime", 0) for executor in executors)
    stages, (hits, misses, batches) = pages.get("stages"), _cache_reads(progress)
    return MemoryUse(
        gc_share=gc_ms / task_ms if task_ms else None,
        spilled_bytes=None if stages is None else sum(s.get("diskBytesSpilled", 0) for s in stages),
        cache_hit_rate=hits / (hits + misses) if hits + misses else None,
        cache_misses=misses / max(1, batches),
        executor_memory=settings.get(_MEMORY, "1g"),
        cache_mb=settings.get(_CACHE, "8"),
    )


def _cache_reads(progress: Iterable[Mapping[str, Any]]) -> tuple[int, int, int]:
    """Return the hits and misses of RocksDB's block cache, and the number of batches."""
    batches = list(progress)
    metrics = [
        operator.get("customMetrics") or {}
        for batch in batches
        for operator in batch["stateOperators"]
    ]
    hits, misses = (sum(one.get(name, 0) for one in metrics) for name in (_HITS, _MISSES))
    return hits, misses, len(batches)


def _garbage_collection(use: MemoryUse) -> Iterator[Finding]:
    if use.gc_share is not None and use.gc_share > GC_SHARE:
        line = (
            f"garbage collection takes {use.gc_share:.0%} of task time (over {GC_SHARE:.0%}): with"
            f" more memory per executor (now {use.executor_memory}) tasks take up to"
            f" {use.gc_share:.0%} less time; more executors do not change that share"
        )
        yield Finding(topic="memory", state="advice", line=line, setting=_more(use))


def _spill(use: MemoryUse) -> Iterator[Finding]:
    if use.spilled_bytes:
        line = (
            f"{use.spilled_bytes / 1e6:,.0f} MB of shuffle data were spilled to disk: a task has"
            f" too little memory (executors have {use.executor_memory})"
        )
        yield Finding(topic="memory", state="advice", line=line, setting=_more(use))


def _cache(use: MemoryUse) -> Iterator[Finding]:
    rate, misses = use.cache_hit_rate, use.cache_misses
    if rate is not None and rate < CACHE_HIT_RATE and misses >= CACHE_MISSES:
        line = (
            f"RocksDB reads {misses:,.0f} blocks of a batch from disk: its cache of {use.cache_mb}"
            f" MB per state store has {rate:.0%} of the blocks that are read"
        )
        double = f"{_CACHE}={2 * int(use.cache_mb)}" if use.cache_mb.isdecimal() else ""
        yield Finding(topic="memory", state="advice", line=line, setting=double)


def _more(use: MemoryUse) -> str:
    """Return the setting with twice the memory; "" if the present one has no simple unit."""
    number, unit = use.executor_memory[:-1], use.executor_memory[-1:]
    return f"{_MEMORY}={2 * int(number)}{unit}" if number.isdecimal() else ""
