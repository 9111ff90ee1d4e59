"""Kills executors that hold receivers, and the broker, repeatedly (kill -9), and verifies that each
acknowledged record is in the output exactly once.

Run: python benchmarks/receivers_kills.py --histories 20 --protocol http --out FILE. The setup is
three executors of two cores, one to three receivers, eight senders that repeat each record until it
is acknowledged, and a query that reads each ID once into Parquet. Each history is half a minute of
load with one kill: in turn an executor with a receiver, the broker (back after two seconds), and
both. Then all senders finish, the query drains, and the output is compared with the acknowledged
records.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rheostat.local.standalone_cluster import end_driver
from rheostat.machine.orderly_end import orderly_end
from rheostat.spark.fleet.fleet import Fleet
from rheostat.spark.fleet.receiving import SOURCES
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.push.sender import Senders
from rheostat_lab.receivers.dstreams_job import pid_of, until
from rheostat_lab.receivers.fleet_job import FleetJob
from rheostat_lab.services.broker import Broker

EXECUTORS, CORES = 3, 2
RATE = 120.0
RECEIVER_ROWS_PER_S = 80.0
KINDS = ("executor", "broker", "both")


def main() -> None:
    """Run all histories and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=20)
    parser.add_argument("--protocol", default="http", choices=list(SOURCES))
    parser.add_argument("--out", type=Path, default=Path("out/receivers_kills.json"))
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    results: list[dict[str, Any]] = []
    with orderly_end(True), ExitStack() as stack:
        broker = stack.enter_context(Broker())
        cluster = stack.enter_context(Cluster(cores=EXECUTORS * CORES))
        stack.callback(end_driver)
        job = FleetJob(cluster, broker, "push", EXECUTORS, CORES, stack)
        fleet = job.receive(given.protocol, (1, 3), RECEIVER_ROWS_PER_S)
        query = job.read()
        for number in range(given.histories):
            results.append(run((given.protocol, number), job, fleet, cluster, broker, query))
            sys.stderr.write(f"{results[-1]}\n")
            given.out.write_text(json.dumps(results, indent=2))


def fullest(fleet: Fleet) -> str:
    """Return the executor with the most receivers."""
    held = fleet.state.by_executor
    return max(held, key=lambda executor: held[executor])


def run(
    history: tuple[str, int],
    job: FleetJob,
    fleet: Fleet,
    cluster: Cluster,
    broker: Broker,
    query: Any,
) -> dict[str, Any]:
    """Return the verdict on one history."""
    protocol, number = history
    prefix, kind = f"h{number}-", KINDS[number % len(KINDS)]
    with Senders(fleet.address, protocol, 8, lambda _: RATE, prefix=prefix) as senders:
        time.sleep(8)
        if kind != "broker":
            os.kill(pid_of(fullest(fleet), cluster), signal.SIGKILL)
        if kind != "executor" and broker.pid:
            os.kill(broker.pid, signal.SIGKILL)
            time.sleep(2)
            broker.restart()
        time.sleep(12)
        finished = senders.finish()
    query.processAllAvailable()
    until("all executors", lambda: len(job.executors.hosts()) == EXECUTORS)
    verdict = job.judge(senders, prefix)
    return {
        "history": number,
        "killed": kind,
        "finished": finished,
        "exact": verdict.exact,
        "retries": senders.retries,
        **asdict(verdict),
    }


if __name__ == "__main__":
    main()
