"""Measures the cost of the autoscaler: CPU-seconds of its threads and calls per second of one
core, during a real query.

Run: python benchmarks/overhead.py --tasks 200 --seconds 60 --repeat 3 --out FILE. The setup is a
real Kafka topic, a real cluster, one batch per second with that many tasks, a decision every 5
seconds, and the lag read from the broker. During the first repetition the JVM is young and every
call is expensive. It measures CPU time, which hardly depends on the load of the computer.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import rheostat
from rheostat.config import LoopOptions
from rheostat.kafka.jars import source_jars
from rheostat.local.local_session import start_session
from rheostat.local.spark_home import find_spark_home
from rheostat.machine.process import Child
from rheostat.model import Decision, Limits, Memory, Observation, hold
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.demo.overhead_meter import OverheadMeter
from rheostat_lab.services.broker import Broker

GOAL = 0.01
TOPIC, PARTITIONS, RATE = "bids", 8, 2000
BATCH_DEADLINE_S = 120.0


class Hold:
    """Keeps the size at every tick; ``live_signals`` are those that cost separate calls."""

    def __init__(self, live_signals: Sequence[str]) -> None:
        self.live_signals = frozenset(live_signals)

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the current size."""
        return hold(observation, "size kept"), memory


def start_query(spark: Any, bootstrap: str, tasks: int) -> Any:
    """Start a query of one batch per second with that many tasks, and return it after a batch."""
    reader = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", TOPIC)
    )
    rows = reader.option("minPartitions", tasks).load()
    query = rows.writeStream.format("noop").trigger(processingTime="1 second").start()
    deadline = time.monotonic() + BATCH_DEADLINE_S
    while query.lastProgress is None:
        if time.monotonic() > deadline:
            raise SystemExit(f"no batch within {BATCH_DEADLINE_S:.0f} s")
        time.sleep(0.5)
    return query


def measure(
    spark: Any,
    query: Any,
    bootstrap: str,
    executors: int,
    interval_s: float,
    seconds: float,
    live: Sequence[str],
) -> dict[str, Any]:
    """Attach for that long; return the CPU seconds per second of one core, in total and by part,
    and the progress of the query.
    """
    first = query.lastProgress["batchId"]
    with tempfile.TemporaryDirectory() as journal:
        meter = OverheadMeter.of_driver(spark)
        handle = rheostat.attach(
            spark,
            policy=Hold(live),
            limits=(executors, executors),
            kafka={"bootstrap.servers": bootstrap},
            journal=journal,
            loop=LoopOptions(interval_s=interval_s),
        )
        meter.follow(handle)
        time.sleep(seconds)
        overhead = meter.overhead()
        handle.stop()
    progress = query.recentProgress
    batches = [
        event["durationMs"]["triggerExecution"] / 1000
        for event in progress
        if event["batchId"] > first
    ]
    parts = {part: spent_s / overhead.elapsed_s for part, spent_s in overhead.cpu_s.items()}
    return {
        "core_share": sum(parts.values()),
        **parts,
        "batches": len(batches),
        "batch_s": statistics.median(batches) if batches else None,
    }


def summary(samples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return n, median, min and max of the core share, and of every part."""
    names = [name for name in samples[0] if name not in ("batches", "batch_s")]
    return {name: _spread([sample.get(name, 0.0) for sample in samples]) for name in names}


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "n": len(values),
        "median": statistics.median(values),
        "min": min(values),
        "max": max(values),
    }


def run(
    tasks: Annotated[int, typer.Option(help="Tasks of a batch.", min=1)] = 200,
    seconds: Annotated[float, typer.Option(help="Length of a repetition.")] = 60.0,
    repeat: Annotated[
        int, typer.Option(help="Repetitions, one after the other in one application.", min=1)
    ] = 3,
    interval: Annotated[float, typer.Option(help="Seconds between two decisions.")] = 5.0,
    executors: Annotated[int, typer.Option(help="Executors of one core.", min=1)] = 2,
    live: Annotated[
        str,
        typer.Option(
            help="Signals that a policy reads and that cost calls: stages,cpu,by_executor."
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Write the numbers to this file as JSON.")
    ] = None,
) -> None:
    """Measure the autoscaler's CPU time during a real query of one batch per second."""
    with ExitStack() as stack:
        broker = stack.enter_context(Broker())
        broker.create_topic(TOPIC, PARTITIONS)
        stack.enter_context(_load(broker))
        cluster = stack.enter_context(Cluster(cores=executors))
        os.environ.update(cluster.driver_environment())
        options = session_options(
            Limits.between(executors, executors), jars=source_jars().paths, quiet=True
        )
        spark = start_session(cluster.url, options, "overhead")
        stack.callback(spark.stop)
        query = start_query(spark, broker.bootstrap, tasks)
        stack.callback(query.stop)
        samples = [
            measure(spark, query, broker.bootstrap, executors, interval, seconds, live.split(","))
            for _ in range(repeat)
        ]
    home = find_spark_home()
    where = {
        "spark": home.version,
        "java": home.jdk.version,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
    }
    settings = {
        "tasks": tasks,
        "seconds": seconds,
        "interval_s": interval,
        "live": live,
        "goal": GOAL,
    }
    result = {**where, **settings, **summary(samples), "samples": samples}
    _print(
        f"CPU-seconds per second of one core (Spark {home.version}, {tasks} tasks a batch, a"
        f" decision every {interval:g} s)",
        result,
    )
    if out:
        out.write_text(json.dumps(result, indent=2) + "\n")


def _load(broker: Broker) -> Child:
    command = [
        sys.executable,
        "-m",
        "rheostat_lab.nexmark.load",
        "--bootstrap",
        broker.bootstrap,
        "--topic",
        TOPIC,
    ]
    return Child(
        [*command, "--workload", "constant", "--set", f"rate={RATE}", "--seconds", "36000"],
        log=broker.folder / "load.log",
    )


def _print(title: str, result: dict[str, Any]) -> None:
    table = Table("", "n", "median", "min", "max", title=title)
    for name in (name for name, value in result.items() if isinstance(value, dict)):
        table.add_row(
            name,
            str(result[name]["n"]),
            *(f"{result[name][which]:.4f}" for which in ("median", "min", "max")),
        )
    Console().print(table)
    batches = ", ".join(
        f"{sample['batches']} batches of {sample['batch_s'] or 0:.2f} s"
        for sample in result["samples"]
    )
    Console().print(f"goal: core_share at most {result['goal']}; meanwhile {batches}")


if __name__ == "__main__":
    typer.run(run)
