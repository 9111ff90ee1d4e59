"""Measures the seconds from a decision until executors work, through the production loop and with
Spark's ``requestTotalExecutors`` alone, alternating in one application.

Run: python benchmarks/scale_out.py --kind kubernetes --pairs 5 [--more 2] [--out FILE]. The job is
a count by key with its state in RocksDB. Each pair starts from one executor; the order alternates.
``registered`` is when Spark counts all executors, ``at work`` when each has ended a task. The
loop's time begins with its decision as recorded in its journal, Spark's with the call.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rheostat.local.spark_home import find_spark_home
from rheostat.local.standalone_cluster import end_driver
from rheostat.machine.orderly_end import orderly_end
from rheostat.model import Limits
from rheostat.spark.sensing.rest import ExecutorsEndpoint, Rest
from rheostat_lab.clusters.cluster_kinds import KINDS, local_cluster
from rheostat_lab.rescale.job_setting import Setting
from rheostat_lab.rescale.rescale_ways import Live
from rheostat_lab.rescale.stateful_job import StatefulJob
from rheostat_lab.rescale.stateful_rows import Shape
from rheostat_lab.services.broker import Broker

ANSWER_S = 60.0
REST_S = 8.0
"""Pause before each request: YARN still counts an executor that has just left and does not replace
it."""

SHAPE = Shape(
    query="count", state_mb=0.5, value_bytes=1000, rate_per_s=100, live_keys=200, touch_every=3
)
SETTING = Setting(
    trigger_s=1.0,
    partitions=8,
    maintenance_s=5.0,
    # As `rheostat run` sets it; with fewer the loop asks Kubernetes for one executor at a time.
    options={"spark.executor.maxNumFailures": "100"},
)


class Pairs:
    """A job of one executor that is scaled out to ``1 + more``, either way."""

    def __init__(self, job: StatefulJob, more: int, folder: Path) -> None:
        self._job, self._wanted, self._folder = job, 1 + more, folder
        context = job.spark.sparkContext
        self._endpoint = ExecutorsEndpoint(Rest(context.uiWebUrl, context.applicationId, ANSWER_S))
        self._number = 0

    def spark(self) -> dict[str, float]:
        """Request the total from Spark alone."""
        self._job.pause(REST_S)
        executors, begun_s = self._job.internals.executors, time.time()
        executors.request_total(self._wanted)
        arrivals = self._arrivals(lambda: begun_s)
        executors.request_total(1)
        executors.decommission(self._job.executors()[1:])
        self._job.until("one executor is left", lambda: len(self._job.executors()) == 1)
        return arrivals

    def loop(self) -> dict[str, float]:
        """Run the production loop with a policy that returns the size; state is placed as usual."""
        self._number += 1
        journal = self._folder / f"journal{self._number}"
        live = Live(self._job, 1, (1, self._wanted), "force", journal)
        decided: list[float] = []
        live.handle.watch(
            lambda record: (
                decided.append(record.t_s)
                if record.target == self._wanted and not decided
                else None
            )
        )
        self._job.pause(REST_S)
        live.ask(self._wanted)
        arrivals = self._arrivals(lambda: decided[0])
        live.await_steady(self._wanted)
        live.rescale(1)
        live.stop()
        return arrivals

    def _arrivals(self, begun_s: Callable[[], float]) -> dict[str, float]:
        job = self._job
        job.until("all are registered", lambda: len(job.executors()) >= self._wanted)
        registered_s = time.time()
        job.until("all have completed a task", self._at_work)
        return {"registered": registered_s - begun_s(), "at work": time.time() - begun_s()}

    def _at_work(self) -> bool:
        there = self._endpoint.registered() or []
        return sum(executor.task_s > 0 for executor in there) >= self._wanted


def measure(kind: str, pairs: int, more: int) -> dict[str, list[dict[str, float]]]:
    """Return the times of all pairs, by way."""
    cluster = local_cluster(kind, 1 + more, 2, say)
    samples: dict[str, list[dict[str, float]]] = {"loop": [], "spark": []}
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="rheostat-scale-out-"))
        broker = stack.enter_context(Broker())
        stack.enter_context(cluster)
        stack.callback(end_driver)
        folder, limits = Path(place) / "run", Limits.between(1, 1 + more)
        job = stack.enter_context(StatefulJob(SHAPE, SETTING, broker, cluster, folder, limits, 1))
        job.start()
        both = Pairs(job, more, folder)
        both.spark()  # warm-up: code that runs for the first time is slow
        both.loop()
        for number in range(pairs):
            for way in ("loop", "spark") if number % 2 else ("spark", "loop"):
                samples[way].append(getattr(both, way)())
                say(f"{number + 1} of {pairs}, {way}: {samples[way][-1]}")
    return samples


def summary(measured: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Return medians, samples and the ratio of the medians for both moments."""
    result: dict[str, Any] = {}
    for moment in ("registered", "at work"):
        samples = {way: [round(one[moment], 2) for one in runs] for way, runs in measured.items()}
        medians = {way: statistics.median(runs) for way, runs in samples.items()}
        ratio = round(medians["loop"] / medians["spark"], 2)
        result[moment] = {"median_s": medians, "ratio": ratio, "samples_s": samples}
    return result


def say(line: str) -> None:
    """Write a line of progress to standard error."""
    sys.stderr.write(f"scale-out: {line}\n")


def main(words: Sequence[str] | None = None) -> None:
    """Measure as the command line requests, and print a line of JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=KINDS, default="standalone")
    parser.add_argument("--pairs", type=int, default=5, help="of each way (default 5)")
    parser.add_argument("--more", type=int, default=1, help="additional executors (default 1)")
    parser.add_argument("--out", type=Path, help="write the same JSON to this file")
    given = parser.parse_args(words)
    with orderly_end():
        result = summary(measure(given.kind, given.pairs, given.more))
    document = {
        "kind": given.kind,
        "spark": find_spark_home().version,
        "pairs": given.pairs,
        "more": given.more,
        **result,
    }
    text = json.dumps(document)
    sys.stdout.write(text + "\n")
    if given.out:
        given.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
