"""Runs receivers on real executors: the example of SPARK-12133, then N rebalancings.

Run: python benchmarks/receivers_rebalance.py --rebalancings 20 --every 10 --out FILE. Five
receivers run on executors of four cores of a local cluster. First comes the document's example at
its interval of a minute: 5 executors with a receiver each are reduced to 2, [3, 2]; one
registers, [3, 2, 0] -> [2, 2, 1]. Then the size alternates between 2 and 3 with a rebalancing every
``--every`` seconds instead of sixty. FILE contains the seconds from the registration of the third
executor to the stable allocation, and whether each receiver was where the rule requires it. --kills
N ends the executor with the most receivers N times with kill -9: the seconds until all receivers
run again, and the lines that were sent and not received, over the complete run.
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
from pathlib import Path
from typing import Any

from rheostat.api import attach
from rheostat.config import LoopOptions
from rheostat.local.standalone_cluster import end_driver
from rheostat.machine.orderly_end import orderly_end
from rheostat.protocols.receivers import receiver_moves
from rheostat.spark.internals.executors import Executors
from rheostat.spark.internals.internals import internals_of
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.receivers.dstreams_job import DStreamsJob, Shape, pid_of, until
from rheostat_lab.receivers.line_feed import LineFeed
from rheostat_lab.rescale.rescale_ways import Scripted

SHAPE = Shape(executors=5, most=5, cores=4, receivers=5)
TWO_MINUTES_S = 120.0
MOST_KILLED = 3
"""Executors while some are killed."""

LOOP = LoopOptions(interval_s=1.0, cooldown_out_s=0.0, cooldown_in_s=0.0, reversal_hold_s=0.0)


def main() -> None:
    """Run and write the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rebalancings", type=int, default=20)
    parser.add_argument("--every", type=float, default=10.0)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out/receivers_rebalance.json"))
    given = parser.parse_args()
    with orderly_end(True), ExitStack() as stack:
        measured = measure(given, stack)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(measured, indent=2))


def measure(given: argparse.Namespace, stack: ExitStack) -> dict[str, Any]:
    """Return the example's allocations, and the rebalancings."""
    cluster = stack.enter_context(Cluster(cores=SHAPE.most * SHAPE.cores))
    stack.callback(end_driver)
    feeds = [stack.enter_context(LineFeed(lambda _: 20.0)) for _ in range(SHAPE.receivers)]
    job = DStreamsJob(cluster, SHAPE, feeds, stack).start()
    executors = internals_of(job.streaming).executors
    policy = Scripted(SHAPE.executors)
    handle = attach(
        job.streaming,
        policy=policy,
        limits=(1, SHAPE.most),
        loop=LOOP,
        journal=cluster.folder / "journal",
    )
    stack.callback(handle.stop)

    def distribution() -> list[int]:
        return job.counts(executors.hosts())

    def reach(wanted: list[int], within_s: float = 240.0) -> float:
        took_s = until(f"{wanted}", lambda: distribution() == wanted, within_s)
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {wanted} after {took_s:.1f} s\n")
        return took_s

    reach([1] * 5)
    policy.executors = 1
    example = {"down_to_3_2_s": reach([3, 2])}
    policy.executors = 3
    example["third_executor_s"] = reach([3, 2, 0])
    example["balanced_s"] = reach([2, 2, 1])
    receiver_moves.BALANCE_S = given.every
    durations_s = []
    while len(durations_s) < given.rebalancings:
        policy.executors = 2
        reach([3, 2])
        policy.executors = 3
        until("a third executor", lambda: len(executors.hosts()) == 3)
        durations_s.append(reach([2, 2, 1]))
    killed = [kill_fullest(job, cluster, executors) for _ in range(given.kills)]
    for feed in feeds:
        feed.stop()
    time.sleep(3 * SHAPE.batch_s)
    failed = job.drain()
    duplicates = sum(count - 1 for count in job.came.values())
    return {
        "example": example,
        "rebalancings": len(durations_s),
        "every_s": given.every,
        "from_arrival_s": [round(took_s, 1) for took_s in durations_s],
        "within_two_minutes": sum(took_s <= TWO_MINUTES_S for took_s in durations_s),
        "killed_then_all_run_s": [round(took_s, 1) for took_s in killed],
        "failed_batches_of_the_last_hundred": failed,
        "lines_sent": sum(len(feed.sent) for feed in feeds),
        "lines_came": len(job.came),
        "lines_twice": duplicates,
    }


def kill_fullest(job: DStreamsJob, cluster: Cluster, executors: Executors) -> float:
    """End the executor with the most receivers, and return the seconds until all run again."""
    held = Counter(executor for executor in job.places().values() if executor)
    fullest, _ = held.most_common(1)[0]
    os.kill(pid_of(fullest, cluster), signal.SIGKILL)
    until("the loss of the executor is detected", lambda: fullest not in executors.hosts())

    def all_run() -> bool:
        places = job.places().values()
        return bool(places) and None not in places and fullest not in places

    took_s = until("all receivers run", all_run)
    until("the executor is replaced", lambda: len(executors.hosts()) == MOST_KILLED)
    time.sleep(10)
    return took_s


if __name__ == "__main__":
    main()
