"""Measures the time of a decision of ``predictive`` with a day of history at one sample per minute
and an hour at one per second: median and 99th percentile in milliseconds of the thread's CPU time.

Run: python benchmarks/decision_day.py [--n 600] [--policy predictive] [--executors 16]
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from decisions import moment  # type: ignore[import-not-found]

from rheostat.model import Memory, Observation
from rheostat.policies.registry import create
from rheostat_lab.loads.cosine import Cosine

DAY_S, HOUR_S = 86_400, 3_600


def script(executors: int, n: int) -> list[Observation]:
    """Return a day at one sample per minute, then an hour and ``n`` seconds at one per second."""
    load = Cosine()
    looks = [*range(0, DAY_S, 60), *range(DAY_S, DAY_S + HOUR_S + n)]
    observations = [moment(t, executors, load) for t in looks]
    # consistent with the rows: decisions are slow only with a fitted model
    return [
        replace(observation, batch_s=0.3 + (observation.batch_rows or 0) / 300_000)
        for observation in observations
    ]


def main(arguments: list[str]) -> None:
    """Print the median, the 99th percentile and the maximum."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--n", type=int, default=600, help="decisions measured")
    parser.add_argument("--policy", default="predictive")
    parser.add_argument("--executors", type=int, default=16)
    given = parser.parse_args(arguments)
    policy = create(given.policy)
    memory: Memory = {}
    took_ms: list[float] = []
    observations = script(given.executors, given.n)
    gc.freeze()  # the garbage collector of a real job does not traverse thousands of observations
    for observation in observations:
        began_ns = time.thread_time_ns()
        _, memory = policy.decide(observation, memory)
        took_ms.append((time.thread_time_ns() - began_ns) / 1e6)
    last = took_ms[-given.n :]
    p99 = statistics.quantiles(last, n=100)[98]
    sys.stdout.write(
        f"{given.policy}: median {statistics.median(last):.2f} ms, 99 % {p99:.2f} ms,"
        f" longest {max(last):.2f} ms, n = {len(last)}\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
