"""Measures the time of a decision by policy, with an hour of history at one sample per second:
median and 99th percentile in milliseconds.

Run: python benchmarks/decisions.py [--n 2000] [--policy NAME ...] [--executors 16] [--out FILE]. It
measures CPU time of the thread, which hardly depends on the load of the computer.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rheostat.model import ExecutorSample, Memory, Observation, Stage
from rheostat.policies.registry import POLICIES, create
from rheostat.sim.workload import Workload
from rheostat_lab.loads.cosine import Cosine

HISTORY_S = 3600
VARIANTS = ("varga-v1 scope=pod", "varga-v2 scope=pod", "ds2 read=sum")
"""Variants that differ from the defaults; measured in addition to the registered policies."""


def moment(t: int, executors: int, load: Workload) -> Observation:
    """Return one second of a job whose load rises and falls, with every signal."""
    rate = load.rate_per_s(float(t))
    busy, waiting_s = min(1.0, rate / 200_000), 1.0 + 9.0 * (rate / 250_000) + t % 7 / 10
    share = ExecutorSample(
        cpu=busy, rows_per_s=rate / executors, lag_rows=rate * waiting_s / executors
    )
    work = (
        ("read", (), rate, rate),
        ("join", ("read",), rate, rate / 2),
        ("count", ("join",), rate / 2, 100.0),
    )
    return Observation(
        t_s=float(t),
        executors=executors,
        slots_per_executor=1,
        target=executors,
        input_rows_per_s=rate,
        inputs={"read": rate},
        processed_rows_per_s=rate * 1.05,
        output_rows_per_s=rate,
        lag_rows=rate * waiting_s,
        lag_rows_upper=rate * waiting_s * 1.2,
        lag_s=waiting_s,
        latency_s=waiting_s + 1,
        busy=busy,
        idle=1 - busy,
        backpressure_ms_per_s=busy * 100,
        cpu=busy,
        batch_s=0.6 + t % 11 / 20,
        batch_parts_s={"addBatch": 0.5},
        batch_rows=int(rate) + t,
        trigger_s=1.0,
        stages=tuple(
            Stage(
                name=name,
                upstream=up,
                rows_in=rows,
                rows_out=out,
                busy_s=busy * executors / 3,
                tasks=24,
                task_max_s=0.3,
            )
            for name, up, rows, out in work
        ),
        by_executor={str(n): share for n in range(executors)},
    )


def measure(name: str, script: list[Observation], n: int) -> dict[str, float]:
    """Return the median and the 99th percentile of the last ``n`` decisions of a policy on the
    script, and the size of its memory.
    """
    registered, *parameters = name.split()
    policy = create(registered, dict(pair.split("=") for pair in parameters))
    memory: Memory = {}
    took_ms: list[float] = []
    for observation in script:
        began_ns = time.thread_time_ns()
        _, memory = policy.decide(observation, memory)
        took_ms.append((time.thread_time_ns() - began_ns) / 1e6)
    ranked = statistics.quantiles(took_ms[-n:], n=100)
    return {
        "median_ms": statistics.median(took_ms[-n:]),
        "p99_ms": ranked[98],
        "memory_bytes": len(json.dumps(memory)),
    }


def main(arguments: list[str]) -> None:
    """Print one row per policy, and write the same as JSON if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--n", type=int, default=2000, help="decisions measured, after an hour of history"
    )
    parser.add_argument(
        "--policy",
        action="append",
        choices=[*POLICIES, *VARIANTS],
        help="only these policies (default: all)",
    )
    parser.add_argument("--executors", type=int, default=16)
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    given = parser.parse_args(arguments)
    load = Cosine()
    script = [moment(t, given.executors, load) for t in range(HISTORY_S + given.n)]
    gc.freeze()  # the garbage collector of a real job does not traverse thousands of observations
    table, results = Table("policy", "median ms", "p99 ms", "memory bytes"), {}
    for name in given.policy or (*POLICIES, *VARIANTS):
        results[name] = measure(name, script, given.n)
        table.add_row(
            name,
            f"{results[name]['median_ms']:.4f}",
            f"{results[name]['p99_ms']:.4f}",
            f"{results[name]['memory_bytes']}",
        )
    Console().print(table)
    if given.out:
        given.out.write_text(json.dumps({"n": given.n, "policies": results}, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
