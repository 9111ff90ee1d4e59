"""A soak test on a local cluster: random changes of size of a stateful query, with killed
executors, deleted pods and lost nodes in between, and a verdict on the output.

``python -m rheostat_lab.rescale.cluster_soak --kind yarn --query session --rescalings 10`` prints a
line of JSON; exit code 0 only if the output is exact and no task failed in a planned change.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import psutil
import pyspark

from rheostat.errors import RheostatError
from rheostat.local.standalone_cluster import end_driver
from rheostat.machine.orderly_end import orderly_end
from rheostat.model import Limits
from rheostat.spark.sensing.rest import ExecutorsEndpoint, Rest
from rheostat.spark.warming.preload import GROUP
from rheostat_lab.clusters.cluster_kinds import KINDS, LocalCluster, local_cluster
from rheostat_lab.clusters.executor_processes import executor_id
from rheostat_lab.clusters.kubernetes.control_plane import NAMESPACE
from rheostat_lab.clusters.kubernetes.kubernetes_cluster import KubernetesCluster
from rheostat_lab.rescale.job_setting import Setting
from rheostat_lab.rescale.rescale_ways import Live
from rheostat_lab.rescale.stateful_job import StatefulJob
from rheostat_lab.rescale.stateful_rows import Shape
from rheostat_lab.services.broker import Broker

MOST = 4
QUICK = Setting(
    trigger_s=1.0,
    partitions=8,
    maintenance_s=5.0,
    # As `rheostat run` sets it: lost executors count, and Spark would otherwise give up after a
    # few.
    options={"spark.executor.maxNumFailures": "100"},
)
_ANSWER_S = 60.0


@dataclass(slots=True)
class Soak:
    """The progress and the results of a soak test."""

    kind: str
    spark: str
    query: str
    seed: int
    rescalings: int = 0
    kills: int = 0
    deletions: int = 0
    losses: int = 0
    failed_in_planned: int = 0
    failed_tasks: int = 0
    failed_queries: int = 0
    moves: int = 0
    """State partitions whose task ran on another executor than in the previous batch."""
    loads: int = 0
    """State partitions that were loaded in pauses between batches."""
    exact: bool = False
    rows: int = 0
    seconds: float = 0.0
    fault: str | None = None
    """The fault that ended the soak test before its verdict."""
    spark_out_s: float | None = None
    """Seconds from Spark's own request for one executor to its registration, before the first
    decision."""
    out_s: list[float] = field(default_factory=list)
    """Seconds of each decided scale-out until its executors registered."""
    ends: list[str] = field(default_factory=list)
    """The recorded reasons of lost executors."""

    @property
    def passed(self) -> bool:
        """Whether the output is exact, and no planned change failed a task."""
        return self.exact and not self.failed_in_planned


def soak(wanted: argparse.Namespace, done: Soak) -> None:
    """Run the soak test; ``done`` always has the current progress."""
    began_s = time.monotonic()
    # Whichever nodes are lost, one with room for all executors remains.
    cluster = local_cluster(
        wanted.kind, MOST * (1 + wanted.losses), max(2, 1 + wanted.losses), log_line
    )
    shape = Shape(
        query=wanted.query,
        state_mb=0.5,
        value_bytes=1000,
        rate_per_s=100,
        live_keys=200,
        touch_every=3,
    )
    with tempfile.TemporaryDirectory(prefix="rheostat-soak-") as place, Broker() as broker, cluster:
        folder = Path(place) / "run"
        limits = Limits.between(1, MOST)
        try:
            setting = replace(QUICK, trigger_s=wanted.trigger)
            with StatefulJob(shape, setting, broker, cluster, folder, limits, 1) as job:
                job.start()
                log_line("the query runs")
                done.spark_out_s = round(_spark_out_s(job), 1)
                _change(job, cluster, wanted, done, folder)
        finally:
            done.seconds = round(time.monotonic() - began_s, 1)
            end_driver()


def _change(
    job: StatefulJob, cluster: LocalCluster, wanted: argparse.Namespace, done: Soak, folder: Path
) -> None:
    chance, size = random.Random(wanted.seed), 2  # noqa: S311
    context = job.spark.sparkContext
    endpoint = ExecutorsEndpoint(Rest(context.uiWebUrl, context.applicationId, _ANSWER_S))
    live = Live(job, size, (1, MOST), "force", folder / "journal")
    live.handle.watch(lambda record: _note(done, record.rescaling.detail))
    faults, until_s = _faults(wanted, chance), time.monotonic() + wanted.seconds
    for number in range(wanted.rescalings):
        if time.monotonic() > until_s:
            break
        size = chance.choice([n for n in range(1, MOST + 1) if n != size])
        fault = faults.get(number)
        before = endpoint.failed_tasks() or 0
        requested_s, there = time.monotonic(), len(job.executors())
        live.ask(size)
        if fault:
            job.pause(chance.uniform(0.0, 4.0))
            _strike(fault, cluster, chance, done)
        elif size > there:
            _await_registered(job, size)
            done.out_s.append(round(time.monotonic() - requested_s, 1))
        live.await_steady(size)
        done.rescalings += 1
        if not fault:
            done.failed_in_planned += (endpoint.failed_tasks() or 0) - before
        took = f"{time.monotonic() - requested_s:.0f} s"
        fault_text = f", {fault}" if fault else ""
        log_line(f"{number + 1} of {wanted.rescalings}: {size} executors after {took}{fault_text}")
    verdict = job.finish()
    done.exact, done.rows = verdict.exact, verdict.expected
    done.failed_tasks, done.failed_queries = endpoint.failed_tasks() or 0, job.failures
    log = job.follow_log()
    done.moves, done.loads = log.moves(QUICK.partitions), log.done_for(GROUP)
    live.stop()


def _spark_out_s(job: StatefulJob) -> float:
    """Return the seconds that Spark itself needs to add a second executor."""
    began_s = time.monotonic()
    job.internals.executors.request_total(2)
    _await_registered(job, 2)
    return time.monotonic() - began_s


def _await_registered(job: StatefulJob, executors: int) -> None:
    job.until(f"{executors} are registered", lambda: len(job.executors()) >= executors)


def _faults(wanted: argparse.Namespace, chance: random.Random) -> dict[int, str]:
    """Return the faults by the number of the change that each occurs in."""
    kinds = ["kill"] * wanted.kills + ["deletion"] * wanted.deletions + ["loss"] * wanted.losses
    chance.shuffle(kinds)
    places = chance.sample(range(wanted.rescalings), min(len(kinds), wanted.rescalings))
    return dict(zip(places, kinds, strict=False))


def _strike(fault: str, cluster: LocalCluster, chance: random.Random, done: Soak) -> None:
    if fault == "loss":
        cluster.lose(done.losses)  # type: ignore[attr-defined]
        done.losses += 1
        return
    with suppress(psutil.NoSuchProcess, IndexError):
        victim = chance.choice(cluster.executors())
        if fault == "kill":
            victim.kill()
            done.kills += 1
        else:
            _delete(cluster, victim)
            done.deletions += 1


def _delete(cluster: LocalCluster, victim: psutil.Process) -> None:
    """Delete the executor's pod like a user; elsewhere, send a manager's end signal."""
    if not isinstance(cluster, KubernetesCluster):
        victim.send_signal(signal.SIGTERM)
        return
    path = f"/api/v1/namespaces/{NAMESPACE}/pods"
    label = f"?labelSelector=spark-exec-id%3D{executor_id(victim)}"
    for pod in cluster.plane.request("GET", path + label)["items"]:
        cluster.plane.request("DELETE", f"{path}/{pod['metadata']['name']}")


def _note(done: Soak, detail: str) -> None:
    for part in detail.split("; "):
        if "was lost" in part and part not in done.ends:
            done.ends.append(part)


def log_line(line: str) -> None:
    """Write a line of progress to standard error."""
    sys.stderr.write(f"soak: {line}\n")


def main(words: Sequence[str] | None = None) -> int:
    """Run a soak test as the command line specifies."""
    parser = argparse.ArgumentParser(description="soak of one kind of cluster")
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--query", default="session", help="session, join, count ...")
    numbers: dict[str, tuple[float, Callable[[str], float]]] = {
        "rescalings": (10, int),
        "kills": (0, int),
        "deletions": (0, int),
        "losses": (0, int),
        "seed": (7, int),
        "seconds": (1e9, float),
        "trigger": (QUICK.trigger_s, float),
    }
    for name, (usual, kind) in numbers.items():
        parser.add_argument(f"--{name}", type=kind, default=usual)
    given = parser.parse_args(words)
    done = Soak(given.kind, pyspark.__version__, given.query, given.seed)
    try:
        with orderly_end():
            soak(given, done)
    except RheostatError as fault:
        done.fault = str(fault)
        log_line(done.fault)
    sys.stdout.write(json.dumps(asdict(done)) + "\n")
    return 0 if done.passed else 1


if __name__ == "__main__":
    sys.exit(main())
