"""Receivers on real executors: the example of SPARK-12133, then N rebalancings.

Run: python benchmarks/receivers_rebalance.py --rebalancings 20 --every 10 --out FILE. Five
receivers on executors of four cores of a local cluster. First the document's example at its own
minute: 5 executors with a receiver each go down to 2, [3, 2]; one comes, [3, 2, 0] -> [2, 2, 1].
Then the size goes 2 -> 3 -> 2 by turns with a rebalancing every so many seconds instead of sixty.
FILE gets the seconds from the third executor's arrival to the stable allocation, and whether each
receiver was where the rule wants it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rheostat.config import LoopOptions
from rheostat.local.driver_process import end_driver
from rheostat.local.standalone import Cluster
from rheostat.machine.orderly_end import orderly_end
from rheostat.rescaling import receiver_moves
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.session import attach
from rheostat_lab.receivers.dstreams_job import DStreamsJob, Shape, until
from rheostat_lab.receivers.line_feed import LineFeed
from rheostat_lab.rescale.rescale_ways import Scripted

SHAPE = Shape(executors=5, most=5, cores=4, receivers=5)
TWO_MINUTES_S = 120.0
LOOP = LoopOptions(interval_s=1.0, cooldown_out_s=0.0, cooldown_in_s=0.0)


def main() -> None:
    """Run and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rebalancings", type=int, default=20)
    parser.add_argument("--every", type=float, default=10.0)
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

    def seen() -> list[int]:
        return job.counts(executors.hosts())

    def reach(wanted: list[int], within_s: float = 240.0) -> float:
        took_s = until(f"{wanted}", lambda: seen() == wanted, within_s)
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {wanted} after {took_s:.1f} s\n")
        return took_s

    reach([1] * 5)
    policy.executors = 1
    example = {"down_to_3_2_s": reach([3, 2])}
    policy.executors = 3
    example["third_executor_s"] = reach([3, 2, 0])
    example["balanced_s"] = reach([2, 2, 1])
    receiver_moves.BALANCE_S = given.every
    found = []
    while len(found) < given.rebalancings:
        policy.executors = 2
        reach([3, 2])
        policy.executors = 3
        until("a third executor", lambda: len(executors.hosts()) == 3)
        found.append(reach([2, 2, 1]))
    duplicates = sum(count - 1 for count in job.came.values())
    return {
        "example": example,
        "rebalancings": len(found),
        "every_s": given.every,
        "from_arrival_s": [round(took_s, 1) for took_s in found],
        "within_two_minutes": sum(took_s <= TWO_MINUTES_S for took_s in found),
        "lines_sent": sum(len(feed.sent) for feed in feeds),
        "lines_came": len(job.came),
        "lines_twice": duplicates,
    }


if __name__ == "__main__":
    main()
