"""What ``rheostat doctor`` states about the memory of executors."""

from __future__ import annotations

from typing import Any

from rheostat.diagnosis.memory_use import MemoryUse, memory_findings, memory_use


class RecordedPages:
    """Answers of Spark's REST interface."""

    def __init__(self, **pages: Any) -> None:
        self._pages = pages

    def get(self, page: str) -> Any:
        return self._pages.get(page)


EXECUTORS = [
    {"id": "driver", "totalDuration": 9_000, "totalGCTime": 9_000},
    {"id": "0", "totalDuration": 60_000, "totalGCTime": 9_000},
    {"id": "1", "totalDuration": 40_000, "totalGCTime": 7_000},
]
STATEFUL = {
    "stateOperators": [
        {
            "customMetrics": {
                "rocksdbReadBlockCacheHitCount": 6000,
                "rocksdbReadBlockCacheMissCount": 2000,
            }
        }
    ]
}


def test_memory_use_is_read_from_executors_stages_and_progress() -> None:
    pages = RecordedPages(
        allexecutors=EXECUTORS, stages=[{"diskBytesSpilled": 2_000_000}, {"diskBytesSpilled": 0}]
    )
    use = memory_use(pages, [STATEFUL], {"spark.executor.memory": "2g"})
    assert use == MemoryUse(
        gc_share=0.16,
        spilled_bytes=2_000_000,
        cache_hit_rate=0.75,
        cache_misses=2000.0,
        executor_memory="2g",
    )


def test_every_shortage_is_one_line_with_the_setting_that_resolves_it() -> None:
    use = MemoryUse(
        gc_share=0.16,
        spilled_bytes=2_000_000,
        cache_hit_rate=0.75,
        cache_misses=2000.0,
        executor_memory="2g",
    )
    findings = list(memory_findings(use))
    assert [finding.state for finding in findings] == ["advice"] * 3
    assert findings[0].line == (
        "garbage collection takes 16% of task time (over 10%): with more memory per executor (now"
        " 2g) tasks take up to 16% less time; more executors do not change that share"
    )
    assert [finding.setting for finding in findings] == [
        "spark.executor.memory=4g",
        "spark.executor.memory=4g",
        "spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB=16",
    ]


def test_sufficient_memory_is_one_good_line() -> None:
    (finding,) = memory_findings(MemoryUse(gc_share=0.02, spilled_bytes=0, cache_hit_rate=0.99))
    assert (finding.state, finding.line) == (
        "good",
        "garbage collection takes 2.0% of task time; nothing was spilled",
    )


def test_initial_reads_of_a_small_state_are_not_a_shortage() -> None:
    young = MemoryUse(gc_share=0.02, spilled_bytes=0, cache_hit_rate=0.5, cache_misses=30.0)
    assert [finding.state for finding in memory_findings(young)] == ["good"]


def test_without_data_there_are_no_findings() -> None:
    assert list(memory_findings(memory_use(RecordedPages(), [], {}))) == []


def test_a_memory_setting_with_an_unusual_unit_is_named_but_not_doubled() -> None:
    (finding,) = memory_findings(MemoryUse(gc_share=0.5, executor_memory="1536mb"))
    assert "1536mb" in finding.line
    assert not finding.setting
