"""Measures the time of a repartition of state: Rheostat's rewrite, Spark's runner, and the two
ways of reading that were rejected, on the same state, one after the other.

Run: python benchmarks/repartition.py [--keys 3000000] [--value-bytes 150] [--partitions 8]
[--changes 16 4 7] [--rounds 1] [--ways rheostat whole spark once filter key] [--changelog] [--state
CHECKPOINT] [--out FILE] [--plot FILE] [--access-plot FILE].
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from rich.console import Console

from rheostat.local.local_session import replay_session
from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.repartition.spark_repartition import repartition
from rheostat.repartition.spark_rewriter import SparkRewriter
from rheostat.repartition.state_engine import Rewrite, StateVersion
from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.internals.state_rewrite import (
    CLASSES,
    OpenStores,
    PartitionReport,
    StateRewrite,
)
from rheostat.storage.local_files import LocalFileSystem
from rheostat_lab.repartition import access_plot
from rheostat_lab.repartition.sized_state import write_state
from rheostat_lab.repartition.ways_plot import draw

READ_WAYS = str(Path(__file__).resolve().with_suffix("").with_name("ReadWays"))
"""The Java class in this folder, without its extension."""

SCREEN = Console(soft_wrap=True)


def rheostat(spark: Any, checkpoint: Path, partitions: int) -> dict[str, Any]:
    """Rewrite the state, as Spark's runner does."""
    known = read_checkpoint(str(checkpoint), LocalFileSystem())
    rewriter = SparkRewriter(spark)
    began = time.monotonic()
    done = rewriter.rewrite(
        Rewrite(source=known.state, batch=known.committed.batch + 1, partitions=partitions)
    )
    took = time.monotonic() - began
    (count,) = done.after.values()
    return {"s": took, "rows": count.rows, "bytes": count.bytes}


def full_protocol(spark: Any, checkpoint: Path, partitions: int) -> dict[str, Any]:
    """Run the complete protocol: the rewrite, loading the new state again and comparing it row by
    row, and putting the files in their places.
    """
    began = time.monotonic()
    state = repartition(
        str(checkpoint), partitions, lambda _: SparkRewriter(spark), check_stopped=lambda *_: None
    )
    phases = state.times_s
    return {
        "s": time.monotonic() - began,
        "phases_s": {name: round(at - phases["begun"], 2) for name, at in phases.items()},
    }


def spark_runner(spark: Any, checkpoint: Path, partitions: int) -> dict[str, Any]:
    """Run Spark's private runner."""
    began = time.monotonic()
    # Private in Spark 4.3: there is no public name.
    spark._streamingCheckpointManager.repartition(str(checkpoint), partitions)  # noqa: SLF001
    return {"s": time.monotonic() - began}


class ReadingJobs(StateRewrite):
    """Jobs that read state with the methods that a rewrite does not use (``ReadWays``)."""

    def read_otherwise(
        self, stores: OpenStores, parts: Sequence[tuple[int, int, int, int]]
    ) -> list[PartitionReport]:
        """Read (store, old and new count, part)."""
        task = self._made(READ_WAYS, stores.java)
        return self._reports(self._rows(parts).mapPartitions(task), None)

    @functools.cached_property
    def _constructors(self) -> dict[str, Any]:
        return self._classes.all_on_executors((*CLASSES, READ_WAYS))


class WaysOfReading(SparkRewriter):
    """The ways of reading state that a rewrite does not use, for measurements."""

    def __init__(self, spark: Any) -> None:
        super().__init__(spark)
        gateway = Gateway(spark)
        self._reading = ReadingJobs(gateway, CompiledClasses(gateway))
        self._jobs = self._reading

    def read_by_filter(self, state: StateVersion, partitions: int) -> list[PartitionReport]:
        """Read all partitions for every new partition, which keeps its own rows.

        The reports contain the bytes read; ``misplaced`` counts seeks.
        """
        return self._read_otherwise(state, partitions, range(partitions))

    def read_by_key(self, state: StateVersion, partitions: int) -> list[PartitionReport]:
        """Look up every key in an index, in the order of the new partitions.

        ``id`` is the size of the index.
        """
        return self._read_otherwise(state, partitions, range(-1, -1 - state.partitions, -1))

    def _read_otherwise(self, state: StateVersion, new: int, parts: range) -> list[PartitionReport]:
        (opened,) = self._opened(state)
        rows = [
            (store, state.partitions, new, part)
            for store in range(len(opened.stores))
            for part in parts
        ]
        return self._reading.read_otherwise(opened, rows)


def filtered(spark: Any, checkpoint: Path, partitions: int) -> dict[str, Any]:
    """Read all partitions for every new partition."""
    return _read(spark, checkpoint, partitions, WaysOfReading.read_by_filter)


def by_key(spark: Any, checkpoint: Path, partitions: int) -> dict[str, Any]:
    """Look up every key."""
    return _read(spark, checkpoint, partitions, WaysOfReading.read_by_key)


def once(spark: Any, checkpoint: Path, partitions: int) -> dict[str, Any]:
    """Read every old partition once, as the rewrite does."""
    return _read(
        spark, checkpoint, partitions, lambda rewriter, state, _: rewriter.measure_partitions(state)
    )


def _read(
    spark: Any, checkpoint: Path, partitions: int, way: Callable[..., list[Any]]
) -> dict[str, Any]:
    state = read_checkpoint(str(checkpoint), LocalFileSystem()).state
    began = time.monotonic()
    reports = way(WaysOfReading(spark), state, partitions)
    took = time.monotonic() - began
    seeks = sum(report.misplaced for report in reports) or len(reports)
    index = sum(int(report.id or 0) for report in reports)
    read = sum(report.bytes for report in reports)
    return {"s": took, "bytes_read": read, "seeks": seeks, "index_bytes": index}


WAYS = {
    "rheostat": rheostat,
    "whole": full_protocol,
    "spark": spark_runner,
    "once": once,
    "filter": filtered,
    "key": by_key,
}


def cpu_s() -> float:
    """Return the processor time of the driver's JVM, whose tasks run inside it."""
    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return sum(process.user + process.system for process in times)


def measured(spark: Any, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Return the result of every way for every change, in turn, each on a fresh copy."""
    began = time.monotonic()
    original = options.state or write_state(
        spark, folder, options.keys, options.value_bytes, options.partitions, options.changelog
    )
    SCREEN.print(f"state written in {time.monotonic() - began:.0f} s")
    files = LocalFileSystem()
    results: list[dict[str, Any]] = []
    for number in range(options.rounds):
        for partitions in options.changes:
            for way in options.ways:
                copy = folder / "copy"
                shutil.copytree(original, copy)
                os.sync()  # else the next measurement pays for unwritten bytes
                before_s = cpu_s()
                result = WAYS[way](spark, copy, partitions)
                result["cpu_s"] = cpu_s() - before_s
                shutil.rmtree(copy)
                results.append({"way": way, "to": partitions, "round": number, **result})
                SCREEN.print(results[-1])
    return {
        "keys": options.keys,
        "value_bytes": options.value_bytes,
        "partitions": options.partitions,
        "changelog": options.changelog,
        "state_file_bytes": files.size(str(original / "state")),
        "spark": spark.version,
        "results": results,
    }


def summary(result: dict[str, Any], way: str) -> dict[str, float]:
    """Return the median of a way without the first of several rounds, in which the JVM compiles."""
    results = [row for row in result["results"] if row["way"] == way]
    steady = [row for row in results if row["round"]] or results
    return {name: round(median(row[name] for row in steady), 2) for name in ("s", "cpu_s")}


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=3_000_000)
    parser.add_argument("--value-bytes", type=int, default=150)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--changes", type=int, nargs="+", default=[16, 4, 7])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--changelog", action="store_true")
    parser.add_argument("--state", type=Path, help="a checkpoint written by an earlier run")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--access-plot", type=Path, help="rows that every way reads, of 120 keys")
    options = parser.parse_args()
    more = {"spark.driver.memory": "3g"}
    with (
        tempfile.TemporaryDirectory() as folder,
        replay_session("local[2]", "repartition", more) as spark,
    ):
        results = measured(spark, Path(folder), options)
        if options.access_plot:
            small = Path(folder) / "small"
            rows = access_plot.homes(spark, small, keys=120, old=3, new=4)
            access_plot.draw(rows, 3, 4, options.access_plot)
    for way in options.ways:
        SCREEN.print(way, summary(results, way))
    text = json.dumps(results, indent=1)
    if options.out:
        options.out.write_text(text + "\n")
    if options.plot:
        draw(results, options.plot)


if __name__ == "__main__":
    main()
