"""The batches in the output topic of the state-size job, and Spark's snapshots."""

from __future__ import annotations

import json

import pytest

from rheostat_lab.varga.snapshot_time import snapshot_times
from rheostat_lab.varga.state_size_topics import Output


def record(batch: str, elapsed_s: float) -> str:
    return json.dumps({"batch": batch, "bytes": 10, "elapsed_s": elapsed_s})


def test_a_batch_ends_with_its_last_record_and_a_rewritten_one_counts_again() -> None:
    output = Output()
    for batch, at_s, elapsed_s in (
        ("1-7", 10.0, 0.4),
        ("1-8", 11.2, 0.5),
        ("1-8", 11.0, 0.9),
        ("2-8", 40.0, 30.0),
        ("2-9", 41.0, 0.4),
    ):
        output.add(record(batch, elapsed_s), at_s)
    assert output.ends_s() == [10.0, 11.2, 40.0, 41.0]
    assert output.batches["1-8"].records == 2
    assert output.longest_s(11.5) == 30.0
    assert output.longest_s(41.5) is None


def test_the_snapshot_time_is_that_of_one_task() -> None:
    operator = {
        "commitTimeMs": 3000,
        "customMetrics": {"rocksdbCommitFileSyncLatencyMs": 900, "rocksdbBytesCopied": 5_000_000},
    }
    assert snapshot_times(operator, 3) == pytest.approx(
        {"whole_s": 1.0, "upload_s": 0.3, "written_mb": 5.0}
    )
