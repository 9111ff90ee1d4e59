"""Measures the disturbance of a stateful query by rescales: Rheostat, stock Spark,
locality.wait=0s, and a restart.

Run: python benchmarks/live_rescale.py --query session --rescales 30 --ways rheostat,spark --out
FILE. The setup is a Kafka source, 24 state partitions, RocksDB with changelog, executors of one
core, a state that is loaded first, and a light steady load; the size alternates between LOW and
HIGH. With Rheostat, executors start warm (class archive, trained by the query itself); with the
other ways, as Spark starts them. FILE and a plot next to it are rewritten after every two rescales.
--events FOLDER keeps Spark's event log of each way, which rescale_batches.py compares with FILE.

MB moved: an even share of HIGH executors is STATE/HIGH, so each new executor receives STATE/HIGH
MB. The defaults, 192 MB and 2-3, move 64 MB to one new executor; 256 MB at 2-4 move as much to each
of two, which start at the same time on the same cores: while one registers, the JVM of the other is
still starting.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil

from rheostat.errors import RheostatError
from rheostat.local.executor_options import arrivals
from rheostat.local.spark_home import find_spark_home
from rheostat.machine.orderly_end import orderly_end
from rheostat.model import Limits
from rheostat.spark.warming.warm_start import WarmStart
from rheostat_lab.clusters.session_options import class_path
from rheostat_lab.clusters.standalone_cluster import HOSTS, Cluster
from rheostat_lab.rescale.job_arguments import add_job_arguments, named_values
from rheostat_lab.rescale.job_setting import PARTITIONS, Setting
from rheostat_lab.rescale.rescale_measures import Run, measures
from rheostat_lab.rescale.rescale_plot import draw
from rheostat_lab.rescale.rescale_ways import WAYS, Mark, RescaleMethod, open_method, options_of
from rheostat_lab.rescale.stateful_job import StatefulJob
from rheostat_lab.rescale.stateful_rows import KEEPING, Shape
from rheostat_lab.services.broker import Broker

YOUNG_BATCHES = 10
"""Number of batches of a newly started driver that do not count."""
KEYS, LARGEST_VALUE = 4000, 64_000
"""Few large values: session windows look at every row of the state in every batch."""


def measure(given: argparse.Namespace, way: str) -> dict[str, Any]:
    """Run one way and return its numbers; write FILE after every two rescales."""
    low, high = given.executors
    with ExitStack() as stack:
        folder = (
            Path(
                stack.enter_context(
                    tempfile.TemporaryDirectory(
                        prefix="rheostat-rescale-", ignore_cleanup_errors=True
                    )
                )
            )
            / way
        )
        broker = stack.enter_context(Broker())
        cluster = stack.enter_context(Cluster(cores=high, hosts=HOSTS[: given.hosts]))
        warm, why_cold = (
            arrivals(f"stateful {given.query}", cluster.folder, class_path())
            if way == "rheostat"
            else (None, None)
        )
        setting = setting_of(given, way, warm)
        job = stack.enter_context(
            StatefulJob(
                shape_of(given), setting, broker, cluster, folder, Limits.between(low, high)
            )
        )
        job.start()
        say(
            f"{way}: the state is loaded, {job.state_bytes() / 1e6:.0f} MB of it in RocksDB, batch"
            f" {job.last_batch}"
        )
        job.run_on(YOUNG_BATCHES)
        if warm:
            warm.train(job.spark.sparkContext.applicationId, job.executors()[0])
        if way == "rheostat":
            say(
                f"{way}: executors arrive"
                f" {'warm' if warm and warm.trained else why_cold or 'cold at first'}"
            )
        changes = open_method(way, job, low, (low, high), folder)
        stack.callback(changes.stop)
        results = rescale_by_turns(given, way, job, changes)
        changes.stop()
        verdict = job.finish()
        if given.events:
            job.copy_log(given.events / f"{way}.events")
        return results | {
            "failed_queries": job.failures,
            "exact": verdict.exact,
            "verdict": repr(verdict),
        }


def shape_of(given: argparse.Namespace) -> Shape:
    """Return the state and the load."""
    value_bytes = round(min(LARGEST_VALUE, max(1000, given.state_mb * 1e6 / KEYS)))
    return Shape(
        query=given.query,
        state_mb=given.state_mb,
        value_bytes=value_bytes,
        rate_per_s=given.rate,
        touch_every=given.touch_every,
    )


def setting_of(given: argparse.Namespace, way: str, warm: WarmStart | None) -> Setting:
    """Return the settings of the query."""
    return Setting(
        trigger_s=given.trigger,
        service_ms=given.service_ms,
        checkpoint_format=given.checkpoint_format,
        provider=given.provider,
        options={**options_of(way), **(warm.settings if warm else {}), **given.conf},
        archive_flags=warm.flags if warm else (),
    )


def rescale_by_turns(
    given: argparse.Namespace, way: str, job: StatefulJob, changes: RescaleMethod
) -> dict[str, Any]:
    """Rescale to HIGH and back to LOW as often as requested, write FILE after each rescale, and
    return the last numbers.
    """
    low, high = given.executors
    marks: list[Mark] = []
    busy: list[tuple[float, float]] = []
    stolen: list[float] = []
    results: dict[str, Any] = {}
    for number in range(given.warm_up + given.rescales):
        busy += await_calm(given, way, job)
        before = taken_so_far_s()
        marks += [cycle_half(job, changes, size, given.steady) for size in (high, low)]
        if number >= given.warm_up:
            since_s = time.time()
            stolen.append(share_taken(before))
            results = result(job, marks, 2 * given.warm_up, busy, stolen)
            keep(given, way, results)
            say(f"{way}: {number - given.warm_up + 1} of {given.rescales} " + in_words(results))
            busy.append((since_s, time.time()))
            job.run_on(1)
    return results


def await_calm(given: argparse.Namespace, way: str, job: StatefulJob) -> list[tuple[float, float]]:
    """Continue until other processes take less than CALM of the processors; return the begin and
    the end of that time, whose batches do not count.
    """
    since_s = time.time()
    while given.calm < 1:
        before = taken_so_far_s()
        job.run_on(given.steady)
        share = share_taken(before)
        if share < given.calm:
            return [(since_s, time.time())]
        say(
            f"{way}: other processes use {share:.0%} of the processors, waiting for less than"
            f" {given.calm:.0%}"
        )
    return []


def taken_so_far_s() -> tuple[float, float]:
    """Return the processor seconds that other machines on the same host have taken since this
    machine started (0 if they are not reported), and the total.
    """
    times = psutil.cpu_times()
    return float(getattr(times, "steal", 0.0)), time.monotonic() * psutil.cpu_count()


def share_taken(before: tuple[float, float]) -> float:
    """Return the share of the processors that others have taken since then."""
    after = taken_so_far_s()
    return (after[0] - before[0]) / (after[1] - before[1])


def cycle_half(job: StatefulJob, changes: RescaleMethod, size: int, steady: int) -> Mark:
    """Rescale once and run a number of batches: those of the rescale and the steady ones."""
    mark = changes.rescale(size)
    say(
        f"{mark.before} -> {mark.after} executors in {mark.settled_s - mark.requested_s:.1f} s:"
        f" {mark.detail}"
    )
    job.run_on(steady)
    return mark


def result(
    job: StatefulJob,
    marks: list[Mark],
    unscored: int,
    busy: list[tuple[float, float]],
    stolen: list[float],
) -> dict[str, Any]:
    """Return the numbers so far."""
    timed = job.timed()
    ids = [(job.batches[number].run_id, number) for number in sorted(job.batches)]
    run = Run(
        batches=timed,
        ids=ids,
        marks=marks,
        unscored=unscored,
        log=job.follow_log(),
        partitions=job.setting.partitions,
        mb=job.shape.state_mb,
        busy=busy,
        stolen=stolen,
    )
    curve = [(round(batch.start_s, 3), round(batch.duration_s, 3)) for batch in timed]
    times = [(mark.kind, round(mark.requested_s, 3), round(mark.settled_s, 3)) for mark in marks]
    more = {"stolen_share": [round(share, 4) for share in stolen], "curve": curve, "marks": times}
    return {"exact": None, **measures(run), "state_mb_in_rocksdb": job.state_bytes() / 1e6, **more}


def keep(given: argparse.Namespace, way: str, results: dict[str, Any]) -> None:
    """Write FILE with the numbers of this way, and the plot."""
    kept = json.loads(given.out.read_text()) if given.out.exists() else {}
    ways = (
        {**kept.get("ways", {}), way: results}
        if kept.get("what") == what(given)
        else {way: results}
    )
    document = {
        "what": what(given),
        "date": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        "ways": ways,
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    partial = given.out.with_suffix(".partial")
    partial.write_text(json.dumps(document, indent=1) + "\n")
    partial.replace(given.out)
    draw(document, given.out.with_suffix(".png"))


def what(given: argparse.Namespace) -> dict[str, Any]:
    """Return the conditions: FILE contains several ways only if these are the same."""
    home = find_spark_home()
    low, high = given.executors
    return {
        "spark": home.version,
        "java": home.jdk.version,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "query": given.query,
        "state_mb": given.state_mb,
        "state_partitions": PARTITIONS,
        "executors": [low, high],
        "hosts": given.hosts,
        "trigger_s": given.trigger,
        "rows_per_s": given.rate,
        "service_ms": given.service_ms,
        "provider": given.provider,
        "checkpoint_format": given.checkpoint_format,
        "warm_up_cycles": given.warm_up,
        "steady_batches": given.steady,
        "calm": given.calm,
        "conf": given.conf,
        "nominal_mb_per_new_executor": given.state_mb / high,
    }


def in_words(results: dict[str, Any]) -> str:
    """Return the last numbers as one line of text."""
    parts = [
        f"failed tasks {results['failed_tasks']}",
        f"stalls {len(results['stalls'])}",
        f"steady {results['steady_batch_s']}",
    ]
    for kind in ("in", "out", "out_start"):
        summary = results[kind]
        values = ", ".join(f"{value:.2f}" for value in summary["values"][-6:])
        parts.append(
            f"{kind}: n {summary['n']}, median {summary['median'] or 0:.2f}, last {values}"
        )
    parts.append(f"stolen {', '.join(f'{share:.1%}' for share in results['stolen_share'][-6:])}")
    parts.append(f"share {results['out']['new_executor_state_shares'][-6:]}")
    return "; ".join(parts)


def say(line: str) -> None:
    """Print a line with the time."""
    sys.stdout.write(f"{time.strftime('%T')} {line}\n")
    sys.stdout.flush()


def arguments(given: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _add_job(parser)
    parser.add_argument(
        "--rescales", type=int, default=8, help="scored rescales in each direction (default 8)"
    )
    parser.add_argument(
        "--ways",
        default=",".join(WAYS),
        help=f"of {', '.join(WAYS)} (default all), each in a separate process",
    )
    parser.add_argument(
        "--executors",
        default="2-3",
        help="LOW-HIGH (default 2-3: one executor gets a third of the state)",
    )
    parser.add_argument(
        "--warm-up", type=int, default=1, help="unscored cycles at the start (default 1)"
    )
    parser.add_argument(
        "--steady",
        type=int,
        default=8,
        help="batches after a rescale, two of them its tail (default 8)",
    )
    parser.add_argument(
        "--calm",
        type=float,
        default=1.0,
        help="begin a pair only while other processes use less than this share (default 1)",
    )
    parser.add_argument(
        "--events",
        type=Path,
        metavar="FOLDER",
        help="keep Spark's event log of each way there, as WAY.events",
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="JSON file; the plot is written to the same folder"
    )
    read = parser.parse_args(given)
    read.executors = tuple(map(int, read.executors.split("-")))
    read.ways = read.ways.split(",")
    unknown = [way for way in read.ways if way not in WAYS]
    if unknown or len(read.executors) != 2 or not 1 <= read.executors[0] < read.executors[1]:
        parser.error(f"--ways takes {', '.join(WAYS)}, --executors LOW-HIGH with 1 <= LOW < HIGH")
    read.conf = named_values(parser, read.conf)
    return read


def _add_job(parser: argparse.ArgumentParser) -> None:
    add_job_arguments(parser)
    parser.add_argument("--query", choices=KEEPING, default="session")
    parser.add_argument(
        "--state-mb",
        type=float,
        default=192.0,
        help="MB of values loaded into the state (default 192)",
    )
    parser.add_argument(
        "--trigger",
        type=float,
        default=3.0,
        help="trigger interval in seconds (default 3: about half of it is slack)",
    )
    parser.add_argument(
        "--rate", type=int, default=200, help="rows per second of the light load (default 200)"
    )
    parser.add_argument(
        "--service-ms", type=float, default=0.0, help="wait per row in its task (default 0)"
    )
    parser.add_argument(
        "--touch-every",
        type=int,
        default=50,
        help="every N-th row changes a large value (default 50; not in a join)",
    )


def main(given: list[str]) -> int:
    """Run the ways one after the other; each of several runs in its own process, because the JVM of
    a driver keeps its options and its compiled code.
    """
    read = arguments(given)
    if len(read.ways) > 1:
        with orderly_end():
            return max(
                subprocess.run([sys.executable, __file__, *given, "--ways", way]).returncode
                for way in read.ways
            )
    (way,) = read.ways
    try:
        with orderly_end():
            results = measure(read, way)
        keep(read, way, results)
    except RheostatError as error:
        say(f"{way}: {error}")
        return error.exit_code
    say(f"{way}: exact {results['exact']}, {results['verdict']}; {read.out}")
    return 0 if results["exact"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
