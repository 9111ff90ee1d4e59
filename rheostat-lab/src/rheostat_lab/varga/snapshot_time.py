"""The time of a snapshot of the state: the commit of the state store without a changelog, which
writes one, as reported in Spark's progress.

A snapshot of RocksDB is complete if nothing of it was written before, and later contains only new
files. Therefore the first commit of a state is measured, and one after a few changes.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rheostat_lab.services.broker import Broker
from rheostat_lab.varga.kafka_session import kafka_session
from rheostat_lab.varga.load_time import FEW
from rheostat_lab.varga.spec import Spec
from rheostat_lab.varga.state_size_query import run
from rheostat_lab.varga.state_size_query import settings as state_options
from rheostat_lab.varga.state_size_topics import Topics

_UPLOAD = "rocksdbCommitFileSyncLatencyMs"
_BYTES = "rocksdbBytesCopied"


def measure(spec: Spec, progress: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield one row for each size, parallelism and repetition: seconds of a complete snapshot, and
    of one after a few changes, mean over tasks.
    """
    with tempfile.TemporaryDirectory(prefix="rheostat-snapshot-") as name, Broker() as broker:
        folder = Path(name)
        options = state_options(spec.partitions, changelog=False)
        with kafka_session(max(spec.parallelism), folder, options) as spark:
            for number, size in enumerate(spec.sizes_mb):
                topics = Topics(broker.bootstrap, f"size-{size}", spec.value_bytes)
                topics.write(range(size * 1_000_000 // spec.value_bytes))
                if number == 0:  # the first one warms the JVM and is excluded
                    _snapshots(spark, topics, folder / "checkpoint", max(spec.parallelism))
                for repetition in range(spec.repetitions):
                    for tasks in spec.parallelism:
                        row = _snapshots(spark, topics, folder / "checkpoint", tasks)
                        yield {"size_mb": size, "parallelism": tasks, **row}
                    progress(f"{size} MB: repetition {repetition + 1} of {spec.repetitions}")


def _snapshots(spark: Any, topics: Topics, checkpoint: Path, tasks: int) -> Mapping[str, float]:
    try:
        full = _of(run(spark, topics, checkpoint, tasks, None), tasks)
        topics.write(range(FEW))
        later = _of(run(spark, topics, checkpoint, tasks, None), tasks)
    finally:
        shutil.rmtree(checkpoint, ignore_errors=True)
    return {**full, "later_s": later["whole_s"], "later_mb": later["written_mb"]}


def _of(query: Any, tasks: int) -> Mapping[str, float]:
    progress = json.loads(query.recentProgress[0].json)
    return snapshot_times(progress["stateOperators"][0], tasks)


def snapshot_times(operator: Mapping[str, Any], tasks: int) -> Mapping[str, float]:
    """Return the mean commit time of a batch per task, from an operator's progress, whose times are
    sums over the state partitions.
    """
    own = operator["customMetrics"]
    return {
        "whole_s": operator["commitTimeMs"] / 1000 / tasks,
        "upload_s": own.get(_UPLOAD, 0) / 1000 / tasks,
        "written_mb": own.get(_BYTES, 0) / 1e6,
    }
