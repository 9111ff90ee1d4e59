"""Kills the executor with the most receivers of a StreamingContext repeatedly (kill -9), and
reports which lines are lost, and whether any of them had been received.

Run: python benchmarks/receivers_context_kills.py --histories 10 --out FILE, and the same with
--log, with which Spark keeps received rows in its write-ahead log. The setup is two socket
receivers of 25 lines per second, three executors of two cores, batches of four seconds, and
Rheostat attached (version 2). A plain socket acknowledges nothing, so a line counts as sent once
the sender's socket has accepted it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

from rheostat.api import attach
from rheostat.local.standalone_cluster import end_driver
from rheostat.machine.orderly_end import orderly_end
from rheostat.spark.dstreams import LOG
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.receivers.dstreams_sensor import read_batches
from rheostat.spark.sensing.rest import Rest
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.receivers.dstreams_job import DStreamsJob, Shape, pid_of, until
from rheostat_lab.receivers.line_feed import LineFeed
from rheostat_lab.rescale.rescale_ways import LOOP, Scripted

SHAPE = Shape(executors=3, most=3, cores=2, receivers=2, batch_s=4.0)
RATE = 25.0
QUIET_S = 8.0
"""Before and after each kill: two batches."""

DRAIN_S = 900.0
"""On a busy computer a context is minutes behind after ten kills; its backlog is not lost."""


def main() -> None:
    """Run all histories and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=10)
    parser.add_argument("--log", action="store_true", help="With Spark's write-ahead log.")
    parser.add_argument("--out", type=Path, default=Path("out/receivers_context_kills.json"))
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with orderly_end(True), ExitStack() as stack:
        result = measure(given, stack)
    given.out.write_text(json.dumps(result, indent=2))
    sys.stderr.write(f"{json.dumps(result)}\n")


def measure(given: argparse.Namespace, stack: ExitStack) -> dict[str, Any]:
    """Run all histories on one context and return what was lost in each."""
    cluster = stack.enter_context(Cluster(cores=SHAPE.most * SHAPE.cores))
    stack.callback(end_driver)
    feeds = [stack.enter_context(LineFeed(lambda _: RATE)) for _ in range(SHAPE.receivers)]
    options = {LOG: "true"} if given.log else {}
    job = DStreamsJob(cluster, SHAPE, feeds, stack, options)
    if given.log:
        job.streaming.checkpoint(str(cluster.folder / "checkpoint"))
    job.start()
    handle = attach(job.streaming, policy=Scripted(SHAPE.most), limits=(1, SHAPE.most), loop=LOOP)
    stack.callback(handle.stop)
    marks = [[len(feed.sent) for feed in feeds]]
    for _ in range(given.histories):
        down_s = kill_one(job, cluster)
        marks.append([len(feed.sent) for feed in feeds])
        sys.stderr.write(f"receivers and executors were back after {down_s:.1f} s\n")
    for feed in feeds:
        feed.stop()
    failed = job.drain(DRAIN_S)
    return verdict(job, marks, failed)


def kill_one(job: DStreamsJob, cluster: Cluster) -> float:
    """Kill the executor with the most receivers between two quiet periods, and return the seconds
    until all executors and receivers were running again.
    """
    hosts = internals_of(job.streaming).executors.hosts
    time.sleep(QUIET_S)
    held = Counter(executor for executor in job.places().values() if executor)
    killed = held.most_common(1)[0][0]
    os.kill(pid_of(killed, cluster), signal.SIGKILL)

    def back() -> bool:
        there = hosts()
        complete = killed not in there and len(there) == SHAPE.executors
        return complete and all(executor in there for executor in job.places().values())

    down_s = until("all executors and receivers", back)
    time.sleep(QUIET_S)
    return down_s


def verdict(job: DStreamsJob, marks: list[list[int]], failed: int | None) -> dict[str, Any]:
    """Compare the output with the sent lines, by history, and with what Spark has received."""
    context = job.spark.sparkContext
    page = Rest(context.uiWebUrl, context.applicationId, 30.0).get("streaming/batches")
    received = sum(batch.rows for batch in read_batches(page) or ())
    lost = []
    for before, after in pairwise(marks):
        sent = {
            (stream, line)
            for stream, (first, last) in enumerate(zip(before, after, strict=True))
            for line in range(first, last)
        }
        lost.append(len(sent - job.came.keys()))
    came = sum(job.came.values())
    return {
        "histories": len(lost),
        "sent": sum(marks[-1]) - sum(marks[0]),
        "lost_by_history": lost,
        "received": received,
        "came": came,
        "received_and_lost": received - came,
        "doubled": came - len(job.came),
        "failed_batches": failed,
    }


if __name__ == "__main__":
    main()
