"""Compares Rheostat with Spark's executor manager for DStreams on the same load: slot-hours,
delay, failed tasks, and lines that were sent and not received.

Run: python benchmarks/receivers_and_spark.py --ways rheostat,rheostat-1,spark --out FILE. The
setup is two socket receivers, rows that take 20 ms each, batches of eight seconds, and 1 to 6
executors of two cores, all of which run at the start; the load rises from 30 lines per second to
200 and falls again within five minutes. All ways decide every 20 s instead of every 60 s: Rheostat
with ``spark-batch-ratio`` (the numbers of the document; in ``rheostat-1``, version 1, receivers are
not moved), Spark with ``spark.streaming.dynamicAllocation.*`` and its other defaults. The ways run
one after the other, each in its own process. --low, --high and --batch change the load.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rheostat.api import attach
from rheostat.config import LoopOptions
from rheostat.local.standalone_cluster import end_driver
from rheostat.machine.orderly_end import orderly_end
from rheostat.spark.receivers.dstreams_sensor import read_batches
from rheostat.spark.sensing.rest import ExecutorsEndpoint, Rest
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.receivers.dstreams_job import DStreamsJob, Shape
from rheostat_lab.receivers.line_feed import LineFeed

SHAPE = Shape(executors=6, most=6, cores=2, receivers=2, batch_s=8.0, service_ms=20.0)
LENGTH_S = 300.0
EVERY_S = 20.0
OWN = {
    "spark.dynamicAllocation.enabled": "false",
    "spark.streaming.dynamicAllocation.enabled": "true",
    "spark.streaming.dynamicAllocation.scalingInterval": str(round(EVERY_S)),
    "spark.streaming.dynamicAllocation.minExecutors": "1",
    "spark.streaming.dynamicAllocation.maxExecutors": str(SHAPE.most),
}
STARTS = "spark.executor.instances"
"""Rejected by Spark's executor manager."""


def rate(given: argparse.Namespace, t_s: float) -> float:
    """Return the lines per second of all receivers: low, a ramp, high, and down again."""
    levels = [given.low, given.low, given.high, given.high, given.low, given.low]
    return float(np.interp(t_s, [0, 90, 120, 190, 220, LENGTH_S], levels))


def main() -> None:
    """Run all ways, or measure one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ways", default="rheostat,spark")
    parser.add_argument("--low", type=float, default=30.0)
    parser.add_argument("--high", type=float, default=200.0)
    parser.add_argument("--batch", type=float, default=SHAPE.batch_s)
    parser.add_argument("--out", type=Path, default=Path("out/receivers_and_spark.json"))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        with orderly_end(True), ExitStack() as stack:
            given.out.write_text(json.dumps(measure(given, stack)))
        return
    given.out.parent.mkdir(parents=True, exist_ok=True)
    measured = {}
    for way in given.ways.split(","):
        part = given.out.with_suffix(f".{way}.json")
        load = ["--low", given.low, "--high", given.high, "--batch", given.batch]
        words = ["--one", way, "--out", part, *load]
        command = [sys.executable, __file__, *map(str, words)]
        subprocess.run(command, check=True)
        measured[way] = json.loads(part.read_text())
        part.unlink()
        given.out.write_text(json.dumps(measured, indent=2))


def measure(given: argparse.Namespace, stack: ExitStack) -> dict[str, Any]:
    """Run the load one way and return its numbers."""
    shape = replace(SHAPE, batch_s=given.batch)
    cluster = stack.enter_context(Cluster(cores=SHAPE.most * SHAPE.cores))
    stack.callback(end_driver)
    share = SHAPE.receivers
    feeds = [LineFeed(lambda t_s: rate(given, t_s) / share) for _ in range(share)]
    own = given.one == "spark"
    options, without = (OWN, (STARTS,)) if own else ({}, ())
    job = DStreamsJob(cluster, shape, feeds, stack, options, without)
    for feed in feeds:
        stack.enter_context(feed)
    job.start()
    if not own:
        loop = LoopOptions(
            interval_s=2.0, cooldown_out_s=0.0, cooldown_in_s=0.0, reversal_hold_s=0.0
        )
        journal = cluster.folder / "journal"
        handle = attach(
            job.streaming,
            parameters={"interval_s": EVERY_S},
            limits=(1, SHAPE.most),
            loop=loop,
            journal=journal,
            placement="off" if given.one == "rheostat-1" else "auto",
        )
        stack.callback(handle.stop)
    sizes = _sizes(cluster, time.time() + LENGTH_S)
    for feed in feeds:
        feed.stop()
    time.sleep(3 * shape.batch_s)
    return {"executors": _runs(sizes), **_numbers(job, feeds, sizes)}


def _sizes(cluster: Cluster, end_s: float) -> list[int]:
    """Count the paid executors once per second until the end."""
    sizes = []
    tick = threading.Event()
    while time.time() < end_s:
        tick.wait(1.0 - time.time() % 1.0)
        sizes.append(len(cluster.executors()))
    return sizes


def _runs(sizes: list[int]) -> list[tuple[int, int]]:
    """Return (second, executors) at each change."""
    changes = [0, *(n for n in range(1, len(sizes)) if sizes[n] != sizes[n - 1])]
    return [(second, sizes[second]) for second in changes]


def _numbers(job: DStreamsJob, feeds: list[LineFeed], sizes: list[int]) -> dict[str, Any]:
    context = job.spark.sparkContext
    rest = Rest(context.uiWebUrl, context.applicationId, 30.0)
    batches = read_batches(rest.get("streaming/batches")) or []
    delays = [
        (batch.waited_s or 0.0) + batch.took_s for batch in batches if batch.took_s is not None
    ]
    failed = ExecutorsEndpoint(Rest(context.uiWebUrl, context.applicationId, 30.0)).failed_tasks()
    sent = sum(len(feed.sent) for feed in feeds)
    return {
        "slot_hours": round(sum(sizes) * SHAPE.cores / 3600, 4),
        "mean_executors": round(sum(sizes) / len(sizes), 2),
        "batches": len(delays),
        "delay_s": {
            "median": round(float(np.median(delays)), 2),
            "p95": round(float(np.percentile(delays, 95)), 2),
            "max": round(max(delays), 2),
        },
        "failed_tasks": failed,
        "lines_sent": sent,
        "lines_lost": sent - len(job.came),
        "lines_twice": sum(count - 1 for count in job.came.values()),
    }


if __name__ == "__main__":
    main()
