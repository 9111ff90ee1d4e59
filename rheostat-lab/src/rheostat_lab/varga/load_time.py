"""How long tasks take to load state: the tasks of the first batch after a start, less those of the
second, which have their state already.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from rheostat.local.replay_session import replay_session
from rheostat_lab.repartition.sized_state import SCHEMA, write_state
from rheostat_lab.rescale.event_log import OPTIONS, EventLog
from rheostat_lab.varga.spec import Spec

SLOTS = 2
_OPTIONS = {
    "spark.driver.memory": "1g",
    # Loads replay a changelog, key by key as Flink loads a savepoint: no snapshot comes between.
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "100000",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
}

FEW = 40
"""Keys that are written anew after each start, so that a batch has rows."""


def measure(spec: Spec, told: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield a row for each size, parallelism and repetition: mean and maximum over tasks, in
    seconds.
    """
    with tempfile.TemporaryDirectory(prefix="rheostat-load-") as name:
        folder = Path(name)
        (folder / "events").mkdir()
        options = {**OPTIONS, "spark.eventLog.dir": (folder / "events").as_uri()}
        options["spark.local.dir"] = str(folder)
        options |= _OPTIONS
        with replay_session(f"local[{SLOTS}]", "rheostat lab", options) as spark:
            log = EventLog()
            for size in spec.sizes_mb:
                own = folder / f"size-{size}"
                keys = size * 1_000_000 // spec.value_bytes
                write_state(spark, own, keys, spec.value_bytes, spec.partitions)
                told(f"{size} MB of state written")
                yield from _loads(spark, own, size, spec, log, told)


def _loads(
    spark: Any, own: Path, size: int, spec: Spec, log: EventLog, told: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    for repetition in range(spec.repetitions + 1):  # the first one warms the JVM: left out
        for tasks in spec.parallelism:
            run_id = _two_batches(spark, own, tasks, f"{repetition}-{tasks}")
            log.follow(own.parent / "events")
            times = load_times(task_times(log, run_id, tasks))
            if repetition:
                yield {"size_mb": size, "parallelism": tasks, **times}
        told(f"{size} MB: repetition {repetition} of {spec.repetitions}")


def _two_batches(spark: Any, own: Path, tasks: int, name: str) -> str:
    """Start the query from its checkpoint with so many tasks, give it two small files, and return
    the run's id.
    """
    for part in (1, 2):
        values = spark.range(FEW).selectExpr("id as key", "repeat('x', 8) as value")
        values.coalesce(1).write.mode("append").parquet(str(own / f"new-{name}-{part}"))
        for file in (own / f"new-{name}-{part}").glob("*.parquet"):
            file.rename(own / "rows" / f"{name}-{part}-{file.name}")
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    counted = rows.parquet(str(own / "rows")).groupBy("key").agg({"value": "last"})
    query = counted.coalesce(tasks).writeStream.outputMode("update").format("noop")
    query = query.option("checkpointLocation", str(own / "checkpoint"))
    query = query.trigger(availableNow=True).start()
    query.awaitTermination()
    return str(query.runId)


def task_times(log: EventLog, run_id: str, tasks: int) -> list[list[float]]:
    """Return the seconds of each state task of a run's batches, batch by batch."""
    found = sorted(
        (batch, by_index)
        for (run, batch), by_index in log.state_tasks(tasks).items()
        if run == run_id
    )
    return [[task.finish_s - task.launch_s for task in each.values()] for _, each in found]


def load_times(batches: Sequence[Sequence[float]]) -> Mapping[str, float]:
    """Return mean and maximum over the tasks of the first batch, each less the mean of the second
    batch's tasks.
    """
    first, second = batches[0], batches[1]
    usual = mean(second)
    return {
        "mean_s": mean(first) - usual,
        "max_s": max(first) - usual,
        "usual_s": usual,
    }
