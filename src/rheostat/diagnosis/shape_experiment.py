"""Measures the gain of each recommended setting: small queries that differ in one setting."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

from rheostat.clusters.run_settings import planned
from rheostat.errors import RheostatError
from rheostat.local.executor_options import local_settings
from rheostat.local.fast_local_files import CLASS, SETTING, local_files
from rheostat.local.local_session import DRIVER_OPTIONS, ERRORS_ONLY, start_session
from rheostat.local.standalone_cluster import Cluster
from rheostat.machine.scratch_folder import ScratchFolder
from rheostat.model import Limits
from rheostat.spark.sensing.query_shape import (
    CHANGELOG,
    FILES,
    PROVIDER,
    ROCKSDB,
    SHUFFLE_PARTITIONS,
    SPARK_PARTITIONS,
    checkpoint_files_class,
)

EXECUTORS = 2
"""Executors of the local session that measures the settings."""

BATCHES = 6
FIRST_BATCHES = 3
"""Number of leading batches that are not counted, because they create the state."""

REPETITIONS = 2
DEADLINE_S = 60.0
ROWS = 2000
KEYS = 500
# Bootstrap resamples: the ends of a 95 % interval then vary by up to about 2 % of its width.
RESAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Median batch seconds with and without a setting, and the saving with a 95 % interval."""

    setting: str
    without_s: float
    with_s: float
    gain_s: float
    low_s: float
    high_s: float
    n: int


def variants(spark_version: str) -> dict[str, Mapping[str, str]]:
    """Return one variant of the advised configuration (``advised``) per omitted setting."""
    default = checkpoint_files_class(spark_version).replace("FileSystemBased", "FileContextBased")
    return {
        f"24 state partitions, not {SPARK_PARTITIONS}": {SHUFFLE_PARTITIONS: str(SPARK_PARTITIONS)},
        "files renamed directly, not by FileContext": {FILES: default},
        "RocksDB with changelog, not without": {CHANGELOG: "false"},
    }


def files_variant(spark: Any) -> dict[str, Mapping[str, str]]:
    """Return the variant without ``local_files``; empty if the session does not use it."""
    if spark.conf.get(SETTING, None) != CLASS:
        return {}
    hadoops = {
        "fs.file.impl": "org.apache.hadoop.fs.LocalFileSystem",
        "fs.file.impl.disable.cache": "true",
    }
    return {"files of a local disk without a process each": hadoops}


def advised(spark_version: str) -> dict[str, str]:
    """Return the advised settings."""
    return {
        SHUFFLE_PARTITIONS: "24",
        FILES: checkpoint_files_class(spark_version),
        PROVIDER: ROCKSDB,
        CHANGELOG: "true",
    }


def measure(
    spark: Any, progress: Callable[[str], None] = lambda _: None, repetitions: int = REPETITIONS
) -> list[Gain]:
    """Run a keyed count with and without each setting, alternately, and return the gains.

    It restores the session's settings. Raises RheostatError if a query runs no batch. Fails when:
    executors are on other computers, or other queries occupy the slots.
    """
    best, gains = advised(spark.version), []
    _batches_s(spark, best)  # the first query of a session loads the classes for all others
    for setting, change in (variants(spark.version) | files_variant(spark)).items():
        pairs = []
        for repetition in range(repetitions):
            progress(f"{setting} ({repetition + 1} of {repetitions})")
            pairs.append((_batches_s(spark, {**best, **change}), _batches_s(spark, best)))
        gains.append(gain(setting, [pair[0] for pair in pairs], [pair[1] for pair in pairs]))
    return gains


def gain(
    setting: str, without: Sequence[Sequence[float]], with_it: Sequence[Sequence[float]]
) -> Gain:
    """Return the difference of the medians, with a 95 % interval from a seeded bootstrap."""
    chance = np.random.default_rng(0)
    before, after = (
        np.concatenate([np.asarray(run) for run in without]),
        np.concatenate([np.asarray(run) for run in with_it]),
    )
    # One array of all resamples: computing one median at a time took 0.2 s.
    medians_s = [
        np.median(chance.choice(batches, (RESAMPLES, batches.size)), axis=1)
        for batches in (before, after)
    ]
    low_s, high_s = np.quantile(medians_s[0] - medians_s[1], (0.025, 0.975))
    without_s, with_s = float(np.median(before)), float(np.median(after))
    return Gain(
        setting=setting,
        without_s=without_s,
        with_s=with_s,
        gain_s=without_s - with_s,
        low_s=float(low_s),
        high_s=float(high_s),
        n=min(before.size, after.size),
    )


def _batches_s(spark: Any, settings: Mapping[str, str]) -> list[float]:
    """Run a keyed count of ``ROWS`` rows a batch, back to back; return its batch seconds."""
    with _settings(spark, settings), ScratchFolder("shape") as folder:
        rows = (
            spark.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", ROWS)
            .option("numPartitions", 2)
            .load()
        )
        counted = rows.groupBy((rows.value % KEYS).alias("key")).count()
        writer = (
            counted.writeStream.format("noop")
            .outputMode("update")
            .option("checkpointLocation", str(folder / "checkpoint"))
        )
        query = writer.start()
        try:
            return _wait(query)
        finally:
            query.stop()


def _wait(query: Any) -> list[float]:
    deadline = time.monotonic() + DEADLINE_S
    while query.isActive:
        batches_s = [
            event["durationMs"]["triggerExecution"] / 1000 for event in query.recentProgress
        ]
        counted = batches_s[FIRST_BATCHES:]
        if len(counted) >= BATCHES or (counted and time.monotonic() > deadline):
            return counted
        if time.monotonic() > 2 * DEADLINE_S + deadline:
            break
        time.sleep(0.1)
    raise RheostatError(
        f"the query ran fewer than {FIRST_BATCHES + 1} batches: {query.exception() or 'no executor or no time'}".splitlines()[  # noqa: E501
            0
        ]
    )


@contextmanager
def _settings(spark: Any, settings: Mapping[str, str]) -> Iterator[None]:
    """Set a session's settings for the start of a query, then restore them."""
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


@contextmanager
def shape_session() -> Iterator[SparkSession]:
    """Yield a session with ``EXECUTORS`` executors of one slot; its cluster ends with it."""
    with Cluster(cores=EXECUTORS) as cluster:
        os.environ.update(cluster.driver_environment())
        files = local_files()
        limits, local = Limits.between(EXECUTORS, EXECUTORS), local_settings(jars=files.jars)
        options = {
            **planned(limits, {}, cluster.url, local).settings,
            DRIVER_OPTIONS: ERRORS_ONLY,
            **files.settings,
        }
        session = start_session(cluster.url, options, "rheostat doctor")
        session.sparkContext.setLogLevel("OFF")
        try:
            yield session
        finally:
            session.stop()
