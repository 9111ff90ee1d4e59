"""Measures the time until the backlog is gone after ``kill -9`` of the driver at its peak: under
``rheostat run`` with the default policy, and as a plain script at the size that was in force.

Run: python benchmarks/recovery_after_kill.py --executors 6 --runs 5 [--out FILE]. A Kafka job runs
on a Standalone cluster of this computer; a row occupies a slot for a fixed time, so that the
capacity of an executor is known (50 rows/s). The load is a share of the capacity of all executors
and continues while the job is down. Both ways begin with the same backlog, are killed once it is
gone, and are restarted at once by the same command. FILE gets a line of JSON per run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rheostat.journal.folder import read
from rheostat.machine.orderly_end import orderly_end
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.recovery.killed_job import ROW_MS, KilledJob, Load
from rheostat_lab.services.broker import Broker

PER_EXECUTOR = 1000 / ROW_MS
TRIGGERS_S = 4.0
"""Arrival time in seconds up to which a backlog counts as gone: a row of a job without backlog
waits for up to two triggers of 1 s and their batches."""


def measure(given: argparse.Namespace, executors: int, options: list[str] | None) -> dict[str, Any]:
    """Run, kill and start one job again; return its times and sizes."""
    rate = given.load * PER_EXECUTOR * given.executors
    with ExitStack() as stack:
        broker = stack.enter_context(Broker())
        cluster = stack.enter_context(Cluster(cores=given.executors))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rheostat-kill-")))
        broker.create_topic("rows", 2 * given.executors)
        load = Load(broker.bootstrap, "rows")
        job = KilledJob(folder / "job", cluster, broker.bootstrap, "rows", executors, options)
        stack.callback(job.kill)
        stack.callback(load.end)

        def gone() -> bool:
            lag = job.lag_rows()
            return lag is not None and lag <= TRIGGERS_S * rate

        load.append(int(3 * PER_EXECUTOR * given.executors))
        job.start()
        load.begin(rate)
        job.until("the first backlog is gone", gone)
        job.kill()
        killed = targets(job, 0.0)[-1:] if options is not None else [executors]
        again_s = job.start()
        job.until("a backlog", lambda: not gone())
        recovered_s = job.until("the backlog is gone", gone)
        starting = targets(job, again_s) if options is not None else [executors]
        load.end()
        job.until("the end", lambda: job.lag_rows() == 0)
        job.finish()
        return {
            "recovery_s": recovered_s - again_s,
            "size_at_kill": killed[0],
            "first_size": starting[0],
            "smallest_size": min(starting),
            "rows": load.rows,
            "exact": job.output() == Counter(range(load.rows)),
        }


def targets(job: KilledJob, since_s: float) -> list[int]:
    """Return the targets of all decisions since a Unix time."""
    records = read(job.folder / "journal")
    return [one.target for one in records if one.t_s >= since_s and one.target is not None]


def main() -> None:
    """Measure pairs of both ways, and print their recovery times and the median of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executors", type=int, default=6, help="ceiling of the size")
    parser.add_argument("--runs", type=int, default=5, help="pairs of runs")
    parser.add_argument("--load", type=float, default=0.6, help="share of the capacity of all")
    parser.add_argument("--out", type=Path, help="append a line of JSON for each pair")
    given = parser.parse_args()
    ratios = []
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}")  # noqa: T201
    with orderly_end():
        for _ in range(given.runs):
            sized = measure(given, given.executors, ["--interval", "1"])
            plain = measure(given, sized["size_at_kill"], None)
            ratios.append(sized["recovery_s"] / plain["recovery_s"])
            pair = {"sized": sized, "plain": plain, "ratio": ratios[-1]}
            print(json.dumps(pair), flush=True)  # noqa: T201
            if given.out:
                with given.out.open("a") as file:
                    file.write(json.dumps(pair) + "\n")
    print(f"median ratio of {len(ratios)}: {statistics.median(ratios):.2f}")  # noqa: T201


if __name__ == "__main__":
    main()
