"""Verifies that moving state never corrupts it: partitions are moved as fast as possible, executors
are killed, and the contents are compared with a batch computation.

Run: python benchmarks/soak.py --moves 10000 --state soak.json; the same command continues where it
was interrupted. A round is an application in its own process with one of the queries in turn (keyed
count, session windows, join; others on request). Kinds:
  moves    at every batch boundary all state partitions are reassigned to the executors, through
           the production placement; occasionally an executor is killed (SIGKILL). With a trigger
           interval they are also loaded in the pause after the batch, or an executor warms up with
           the state there, as a new one does
  planned  random rescales of 1 to 8 executors through the production loop without kills: no task
           may fail
  killed   the same, with kills at any moment
With --s3a the checkpoints are on S3A, at a local server of S3's protocol (versitygw), and each
round states its requests: python benchmarks/soak.py --s3a --kind moves --checkpoint-format 1
--moves 10000 --state s3a.json.
The state stores are maintained as often and keep as few versions as Spark allows, because its known
bugs were there. A move is a partition whose task ran on another executor than in the previous
batch, according to Spark's event log.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import psutil
from py4j.protocol import Py4JError
from tests.e2e.s3_gateway import gateway
from tests.e2e.s3_here import BUCKET, s3a_settings

from rheostat.errors import RheostatError
from rheostat.local.spark_home import find_spark_home
from rheostat.machine.orderly_end import orderly_end
from rheostat.model import Limits
from rheostat.spark.resizing.state_placement import Placement
from rheostat.spark.running_queries import Rhythms, RunningQueries
from rheostat.spark.warming.preload import BOUNDARY_S, GROUP, Preload
from rheostat.spark.warming.warmup import GROUP as WARMING
from rheostat.spark.warming.warmup import ROOM_S
from rheostat_lab.clusters.standalone_cluster import HOSTS, Cluster
from rheostat_lab.rescale.job_arguments import add_job_arguments, named_values
from rheostat_lab.rescale.job_setting import PARTITIONS, Setting
from rheostat_lab.rescale.rescale_ways import Live
from rheostat_lab.rescale.stateful_job import StatefulJob
from rheostat_lab.rescale.stateful_rows import QUERIES, Shape
from rheostat_lab.services.broker import Broker

DEFAULT = ("count", "session", "join")
KINDS = ("moves", "moves", "planned", "killed")
MOST = 8
ROUND_DEADLINE_S = 1800.0
SETTLE_S = 240.0
BOUNDARY_POLL_S = 0.02
WARM_UP_SHARE = 0.5
"""Share of the batch boundaries at which an executor warms up, for a query with pauses."""
COUNTED = (
    "moves",
    "preloads",
    "rehearsals",
    "kills",
    "rescales",
    "batches",
    "failed_tasks",
    "failed_tasks_planned",
    "failed_queries",
    "mismatches",
    "failed_rounds",
    "requests",
)
_STATE = "spark.sql.streaming.stateStore"
_OFTEN = {f"{_STATE}.minDeltasForSnapshot": "2", "spark.sql.streaming.minBatchesToRetain": "2"}


def play_round(given: argparse.Namespace, number: int) -> dict[str, Any]:
    """Run one round and return its results."""
    kind, query = (
        KINDS[number % len(KINDS)],
        given.queries[number // len(KINDS) % len(given.queries)],
    )
    if given.kind:
        kind, query = given.kind, given.queries[number % len(given.queries)]
    chance = random.Random(given.seed * 100_003 + number)  # noqa: S311 - a soak
    shape = Shape(
        query=query,
        state_mb=given.state_mb,
        value_bytes=1000,
        rate_per_s=given.rate,
        live_keys=2000,
        touch_every=3,
        seed=number,
    )
    setting = Setting(
        trigger_s=given.trigger,
        maintenance_s=given.maintenance_ms / 1000,
        options={**_OFTEN, **(s3a_settings(given.store) if given.store else {}), **given.conf},
        checkpoints=f"s3a://{BUCKET}/soak" if given.store else "",
        provider=given.provider,
        checkpoint_format=given.checkpoint_format,
        partitions=given.partitions,
    )
    first = given.executors if kind == "moves" else 2
    with ExitStack() as stack:
        parent = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="rheostat-soak-", ignore_cleanup_errors=True)
        )
        folder = Path(parent) / f"round{number}"
        broker = stack.enter_context(Broker())
        cluster = stack.enter_context(Cluster(cores=MOST, hosts=HOSTS[: given.hosts]))
        job = stack.enter_context(
            StatefulJob(shape, setting, broker, cluster, folder, Limits.between(1, MOST), first)
        )
        job.start()
        players = {"moves": play_moves, "planned": play_rescalings, "killed": play_rescalings}
        result = players[kind](given, job, cluster, chance, kind == "killed")
        verdict = job.finish()
        log = job.follow_log()
        failed = len(log.failed_tasks)
        return {
            "round": number,
            "kind": kind,
            "query": query,
            "moves": log.moves(given.partitions),
            "batches": job.last_batch + 1,
            "failed_tasks": failed,
            "failed_tasks_planned": failed if kind == "planned" else 0,
            "failed_queries": job.failures,
            "preloads": log.done_for(GROUP),
            "rehearsals": log.done_for(WARMING),
            "exact": verdict.exact,
            "mismatches": verdict.missing + verdict.unexpected,
            "rows": verdict.expected,
            **result,
        }


def play_moves(
    given: argparse.Namespace, job: StatefulJob, cluster: Cluster, chance: random.Random, _: bool
) -> dict[str, int]:
    """Reassign all partitions at every batch boundary until the round has its moves."""
    internals = job.internals
    rhythms, placement = Rhythms(internals.queries), Placement(internals.coordinator)
    queries = RunningQueries(job.spark, internals.queries, internals.files, rhythms)
    preload = Preload(
        internals.state_loads.preload, lambda: job.spark.streams.active, rhythms.pause_left_s
    )
    kills, last, until, run_id = 0, job.last_batch, time.monotonic() + ROUND_DEADLINE_S / 2, ""
    while job.follow_log().moves(given.partitions) < given.per_round and time.monotonic() < until:
        last = await_boundary(job, last)
        if run_id != str(job.query.runId):
            run_id = learn(queries, placement)
        hosts = internals.executors.hosts()
        if hosts:
            dealt = {unit: chance.choice(list(hosts)) for unit in placement.units}
            placement.assign(dealt, hosts)
            preload.begin(dealt)
        if hosts and given.trigger and chance.random() < WARM_UP_SHARE:
            warm_up(job, rhythms, *chance.choice(sorted(hosts.items())))
        if chance.random() < given.kill_share:
            kills += kill_one(cluster, chance)
        internals.executors.request_total(given.executors)
    return {"kills": kills, "rescales": 0}


def warm_up(job: StatefulJob, rhythms: Rhythms, executor: str, host: str) -> None:
    """Let an executor warm up with the state, in addition to the loads, if the pause has room."""
    time.sleep(BOUNDARY_S)
    with suppress(Py4JError):  # it may be killed meanwhile
        if rhythms.pause_left_s(job.query, time.time()) >= ROOM_S:
            job.internals.warmup_runner.compute_again(job.query, executor, host, WARMING)


def learn(queries: RunningQueries, placement: Placement) -> str:
    """Find the stores of the running query and return its run ID."""
    running = queries.refresh()
    placement.forget(running)
    for run_id in running:
        state = queries.state(run_id)
        if state:
            placement.learn(run_id, *state)
    return next(iter(running), "")


def await_boundary(job: StatefulJob, last: int) -> int:
    """Return the number of the batch that has just ended."""
    deadline = time.monotonic() + SETTLE_S
    while (now := job.internals.queries.last_batch(job.query)) <= last:
        if time.monotonic() > deadline:
            raise RheostatError(f"no batch for {SETTLE_S:.0f} s after batch {last}")
        time.sleep(BOUNDARY_POLL_S)
        job.keep_running()
    return int(now)


def play_rescalings(
    given: argparse.Namespace,
    job: StatefulJob,
    cluster: Cluster,
    chance: random.Random,
    killing: bool,
) -> dict[str, int]:
    """Request random sizes; with kills, kill executors at random moments."""
    live, kills, size = Live(job, 2, (1, MOST), "force", job.folder / "journal", SETTLE_S), 0, 2
    for _ in range(given.rescalings_per_round):
        size = chance.choice([n for n in range(1, MOST + 1) if n != size])
        if not killing:
            live.rescale(size)
            job.run_on(1)
            continue
        live.ask(size)
        for _ in range(chance.randrange(1, 3)):
            job.pause(chance.uniform(0.0, 6.0))
            kills += kill_one(cluster, chance)
        live.await_steady(size)
    live.stop()
    return {"kills": kills, "rescales": given.rescalings_per_round}


def kill_one(cluster: Cluster, chance: random.Random) -> int:
    """Kill an executor with SIGKILL and return 1; 0 if there was none."""
    with suppress(psutil.NoSuchProcess, IndexError):
        chance.choice(cluster.executors()).kill()
        return 1
    return 0


def record(state: dict[str, Any], result: dict[str, Any]) -> None:
    """Add a round to the record."""
    state["rounds"].append(result)
    for name in COUNTED:
        state[name] = sum(int(one.get(name, 0)) for one in state["rounds"])
    state["planned_rescales"] = sum(
        int(one.get("rescales", 0)) for one in state["rounds"] if one.get("kind") == "planned"
    )
    state["exact"] = all(one.get("exact") for one in state["rounds"])
    state["date"] = dt.datetime.now(dt.timezone.utc).date().isoformat()


def save(state: dict[str, Any], file: Path) -> None:
    """Write the record atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(state, indent=1) + "\n")
    partial.replace(file)


def begun(given: argparse.Namespace) -> dict[str, Any]:
    """Return the record so far; raises SystemExit if the file has other conditions."""
    home = find_spark_home()
    form = given.checkpoint_format if home.version >= "4" and given.provider == "rocksdb" else 1
    what = {
        "spark": home.version,
        "provider": given.provider,
        "checkpoint_format": form,
        "hosts": given.hosts,
        "conf": given.conf,
        "trigger": given.trigger,
        "s3a": given.s3a,
    }
    if not given.state.exists():
        return {**what, **dict.fromkeys(COUNTED, 0), "rounds": []}
    state: dict[str, Any] = json.loads(given.state.read_text())
    # Older records lack these fields.
    older = {"hosts": 1, "conf": {}, "trigger": 0.0, "s3a": False}
    if {name: state.get(name, older.get(name)) for name in what} != what:
        raise SystemExit(f"{given.state} records another soak, not {what}; name another file")
    return state


def run_round(given: argparse.Namespace, arguments: Sequence[str], number: int) -> dict[str, Any]:
    """Run a round, with a separate object store if checkpoints are to be on one."""
    if not given.s3a:
        return run_child(given, arguments, number)
    with (
        tempfile.TemporaryDirectory(prefix="rheostat-s3-") as folder,
        gateway(Path(folder)) as store,
    ):
        result = run_child(given, [*arguments, "--store", store.url], number)
        return {**result, "requests": store.requests()}


def run_child(given: argparse.Namespace, arguments: Sequence[str], number: int) -> dict[str, Any]:
    """Run a round in its own process and return its report, also if the round failed."""
    result_file = given.state.with_suffix(f".round{number}")
    result_file.unlink(missing_ok=True)
    try:
        subprocess.run(
            [sys.executable, __file__, *arguments, "--round", str(number)],
            timeout=ROUND_DEADLINE_S,
            check=True,
        )
        result: dict[str, Any] = json.loads(result_file.read_text())
    except (OSError, ValueError, subprocess.SubprocessError) as fault:
        result = {
            "round": number,
            "exact": False,
            "failed_rounds": 1,
            "why": f"{type(fault).__name__}: {fault}"[:300],
        }
    result_file.unlink(missing_ok=True)
    return result


def say(line: str) -> None:
    """Print a line with the time."""
    sys.stdout.write(f"{time.strftime('%T')} {line}\n")
    sys.stdout.flush()


def arguments(given: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--moves", type=int, default=10_000, help="total moves over all runs (default 10000)"
    )
    parser.add_argument(
        "--state",
        type=Path,
        required=True,
        help="JSON file of the soak: continued if it exists, written after every round",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=float("inf"),
        help="start no new round after this many seconds (default: no limit)",
    )
    parser.add_argument(
        "--per-round", type=int, default=700, help="moves per round of moves (default 700)"
    )
    parser.add_argument(
        "--rescalings-per-round",
        type=int,
        default=8,
        help="random rescales per round of the other kinds (default 8)",
    )
    parser.add_argument(
        "--kind",
        choices=("moves", "planned", "killed"),
        help="only rounds of this kind (default: alternating)",
    )
    _add_job(parser)
    parser.add_argument("--s3a", action="store_true", help="checkpoints on S3A, at a local server")
    parser.add_argument("--store", default="", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--round", type=int, help=argparse.SUPPRESS)
    read = parser.parse_args(given)
    read.queries = read.queries.split(",")
    wrong = [query for query in read.queries if query not in QUERIES]
    if wrong:
        parser.error(f"--queries takes {', '.join(QUERIES)}, but {wrong[0]!r} was given")
    read.conf = named_values(parser, read.conf)
    if read.maintenance_ms is None:
        read.maintenance_ms = 5000 if read.s3a else 100
    return read


def _add_job(parser: argparse.ArgumentParser) -> None:
    add_job_arguments(parser)
    parser.add_argument(
        "--queries",
        default=",".join(DEFAULT),
        help=f"alternating, from {', '.join(QUERIES)} (default {','.join(DEFAULT)})",
    )
    parser.add_argument(
        "--executors", type=int, default=5, help="executors of a round of moves (default 5)"
    )
    parser.add_argument(
        "--partitions",
        type=int,
        default=PARTITIONS,
        help=f"state partitions (default {PARTITIONS})",
    )
    parser.add_argument(
        "--trigger",
        type=float,
        default=0.0,
        help="trigger interval in seconds (default 0: batches back to back)",
    )
    parser.add_argument(
        "--kill-share",
        type=float,
        default=0.03,
        help="kills per batch in a round of moves (default 0.03)",
    )
    parser.add_argument("--state-mb", type=float, default=2.0, help="MB of state (default 2)")
    parser.add_argument("--rate", type=int, default=300, help="rows per second (default 300)")
    parser.add_argument(
        "--maintenance-ms",
        type=int,
        help="interval of the state stores' maintenance (default 100; 5000 with --s3a, because each"
        " lists the files of every store)",
    )


def main(given: list[str]) -> int:
    """Run rounds until the soak has its moves; the exit code is 1 if a round found an error."""
    read = arguments(given)
    if read.round is not None:
        with orderly_end():
            try:
                result = play_round(read, read.round)
            except RheostatError as fault:
                result = {
                    "round": read.round,
                    "exact": False,
                    "failed_rounds": 1,
                    "why": str(fault),
                }
        read.state.with_suffix(f".round{read.round}").write_text(json.dumps(result))
        return 0
    state, until = begun(read), time.monotonic() + read.seconds
    while state["moves"] < read.moves and time.monotonic() < until:
        with orderly_end():
            result = run_round(read, given, len(state["rounds"]))
        record(state, result)
        save(state, read.state)
        say(f"{result}")
        say(", ".join(f"{name} {state[name]}" for name in COUNTED))
    return 0 if state.get("exact", True) else 1


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    sys.exit(main(sys.argv[1:]))
