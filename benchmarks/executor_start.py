"""Measures the CPU-seconds of an executor's JVM from its start until it is registered and idle,
with a cold and with a warm start.

Run: python benchmarks/executor_start.py --executors 8 [--out FILE]. Executors are started one after
the other, as an autoscaler does. It measures CPU time, which hardly depends on the load of the
computer.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from rheostat.local.executor_options import arrivals
from rheostat.local.local_session import start_session
from rheostat.local.spark_home import find_spark_home
from rheostat.model import Limits
from rheostat.spark.internals.executors import Executors
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.warming.warm_start import WarmStart
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.rescale.rate_query import start_rate_query

MIB = 1024 * 1024
DEADLINE_S = 120.0
IDLE_S = 1.5
IDLE_CPU_S = 0.02
BATCHES = 12


def measure(cluster: Cluster, executors: int, flags: Sequence[str]) -> list[dict[str, float]]:
    """Start a session and then that many executors one by one; return the CPU-seconds and MiB
    (shared pages split) of each.
    """
    options = session_options(Limits(max_executors=executors), archive_flags=flags, quiet=True)
    spark = start_session(cluster.url, options, "executor start")
    try:
        allocator = internals_of(spark).executors
        return [_measure_one(cluster, allocator, total) for total in range(1, executors + 1)]
    finally:
        spark.stop()
        _wait(lambda: not cluster.executors())


def _measure_one(cluster: Cluster, executors: Executors, total: int) -> dict[str, float]:
    executors.request_total(total)
    _wait(lambda: executors.registered() >= total and len(cluster.executors()) >= total)
    process = cluster.executors()[-1]
    _wait(lambda: _is_idle(process))
    return {"cpu_s": _cpu_s(process), "memory_mib": _memory_bytes(process) / MIB}


def _is_idle(process: psutil.Process) -> bool:
    before = _cpu_s(process)
    time.sleep(IDLE_S)
    return _cpu_s(process) - before <= IDLE_CPU_S


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _memory_bytes(process: psutil.Process) -> int:
    """Return the proportional set size, or the resident one if that is not available."""
    memory = process.memory_full_info()
    return int(getattr(memory, "pss", 0) or memory.rss)


def _wait(done: Any) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not done():
        if time.monotonic() > deadline:
            raise SystemExit(f"an executor did not register or leave within {DEADLINE_S:.0f} s")
        time.sleep(0.1)


def summary(samples: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return n, median, min and max of the CPU-seconds, the median MiB, and the samples."""
    cpu_s = [sample["cpu_s"] for sample in samples]
    spread = {"median_s": statistics.median(cpu_s), "min_s": min(cpu_s), "max_s": max(cpu_s)}
    return {
        "n": len(cpu_s),
        **spread,
        "memory_mib": statistics.median(sample["memory_mib"] for sample in samples),
        "samples_s": cpu_s,
    }


def train(cluster: Cluster, warm: WarmStart) -> None:
    """Run a small query on one executor, which then writes the archive."""
    spark = start_session(
        cluster.url,
        session_options(Limits(max_executors=1), archive_flags=warm.flags, quiet=True),
        "training",
    )
    try:
        query = start_rate_query(spark)
        _wait(lambda: len(query.recentProgress) >= BATCHES)
        warm.train(spark.sparkContext.applicationId, "0")
    finally:
        spark.stop()
        _wait(lambda: not cluster.executors())


def main() -> None:
    """Measure without and with a warm start, print a table, write the same as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--executors", type=int, default=8, help="executors to start of each kind (default 8)"
    )
    parser.add_argument("--out", type=Path, help="write the numbers to this file as JSON")
    options = parser.parse_args()
    home = find_spark_home()
    with Cluster(cores=options.executors) as cluster:
        os.environ.update(cluster.driver_environment())
        warm, cold = arrivals("executor start", cluster.folder)
        if warm and not warm.trained:
            train(cluster, warm)
        kinds = {"cold": (), **({"warm": warm.flags} if warm else {})}
        results = {
            kind: summary(measure(cluster, options.executors, flags))
            for kind, flags in kinds.items()
        }
    where = {
        "spark": home.version,
        "java": home.jdk.version,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "note": cold,
    }
    _print(
        f"CPU-seconds to start one executor (Spark {home.version}, Java {home.jdk.version},"
        f" {os.cpu_count()} cores)",
        results,
    )
    if options.out:
        options.out.write_text(json.dumps({**where, "results": results}, indent=2) + "\n")


def _print(title: str, results: dict[str, dict[str, Any]]) -> None:
    table = Table("", "n", "median", "min", "max", "MiB", title=title)
    for kind, result in results.items():
        row = [f"{result[name]:.2f}" for name in ("median_s", "min_s", "max_s")]
        table.add_row(kind, str(result["n"]), *row, f"{result['memory_mib']:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
