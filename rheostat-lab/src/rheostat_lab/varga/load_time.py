"""The time that tasks need to load state: the tasks of the first batch after a start, minus those
of the second, which already have their state.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from rheostat_lab.rescale.event_log import OPTIONS, EventLog
from rheostat_lab.services.broker import Broker
from rheostat_lab.varga.kafka_session import kafka_session
from rheostat_lab.varga.spec import Spec
from rheostat_lab.varga.state_size_query import run
from rheostat_lab.varga.state_size_query import settings as state_options
from rheostat_lab.varga.state_size_topics import Topics

SLOTS = 2
_OPTIONS = {
    # Loads replay a changelog, key by key like Flink loads a savepoint, without a snapshot.
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "100000",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
}

FEW = 40
"""Number of keys that are rewritten in each of the two batches after a start."""


def measure(spec: Spec, progress: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield one row per size, parallelism and repetition: mean and maximum seconds of tasks."""
    with tempfile.TemporaryDirectory(prefix="rheostat-load-") as name, Broker() as broker:
        folder = Path(name)
        (folder / "events").mkdir()
        options = {**_OPTIONS, **OPTIONS, "spark.eventLog.dir": (folder / "events").as_uri()}
        options |= state_options(spec.partitions)
        with kafka_session(SLOTS, folder, options) as spark:
            log = EventLog()
            for size in spec.sizes_mb:
                topics = Topics(broker.bootstrap, f"size-{size}", spec.value_bytes)
                topics.write(range(size * 1_000_000 // spec.value_bytes))
                run(spark, topics, folder / f"size-{size}", spec.partitions, None)
                progress(f"{size} MB of state written")
                yield from _loads(spark, topics, folder / f"size-{size}", spec, log, progress)


def _loads(
    spark: Any,
    topics: Topics,
    checkpoint: Path,
    spec: Spec,
    log: EventLog,
    progress: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    size = int(checkpoint.name.removeprefix("size-"))
    for repetition in range(spec.repetitions + 1):  # the first one warms the JVM and is excluded
        for tasks in spec.parallelism:
            topics.write([*range(FEW)] * 2)
            query = run(spark, topics, checkpoint, tasks, FEW)
            log.follow(checkpoint.parent / "events")
            times = load_times(task_times(log, str(query.runId), tasks))
            if repetition:
                yield {"size_mb": size, "parallelism": tasks, **times}
        progress(f"{size} MB: repetition {repetition} of {spec.repetitions}")


def task_times(log: EventLog, run_id: str, tasks: int) -> list[list[float]]:
    """Return the seconds of each state task of a run's batches, batch by batch."""
    by_batch = sorted(
        (batch, by_index)
        for (run, batch), by_index in log.state_tasks(tasks).items()
        if run == run_id
    )
    return [
        [task.finish_s - task.launch_s for task in batch_tasks.values()]
        for _, batch_tasks in by_batch
    ]


def load_times(batches: Sequence[Sequence[float]]) -> Mapping[str, float]:
    """Return mean and maximum over the tasks of the first batch, each minus the mean of the second
    batch's tasks.
    """
    first, second = batches[0], batches[1]
    usual = mean(second)
    return {
        "mean_s": mean(first) - usual,
        "max_s": max(first) - usual,
        "usual_s": usual,
    }
