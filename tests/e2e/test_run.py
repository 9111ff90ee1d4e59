"""``rheostat run`` around scripts that know nothing of it, in a process of its own as a user starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from rheostat.journal.folder import read

pytestmark = pytest.mark.e2e
GONE_DEADLINE_S = 30.0
NO_KAFKA = "rheostat: no kafka= given: the lag is told from finished batches of a Kafka source, and unknown for other sources\n"
SCRIPT = """
import sys
from pyspark.sql import SparkSession, functions as sf

builder = SparkSession.builder.appName("counts").config("spark.sql.shuffle.partitions", "2")
BUILDER
spark = builder.getOrCreate()
rows = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
query = RESULT.writeStream.outputMode("update").format("noop").trigger(processingTime="1 second").start()
while query.lastProgress is None or query.lastProgress["batchId"] < 1:
    query.awaitTermination(0.2)
print("running", *sys.argv[1:], flush=True)
query.awaitTermination(SECONDS)
"""
COUNTS = 'rows.groupBy((sf.col("value") % 7).alias("key")).count()'
QUICK_START = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"
"""What a user may have set for the driver; here it spares the tests CPU time."""


def script(folder: Path, seconds: int, builder: str = "", end: str = "", result: str = 'rows.where("value % 7 = 0")') -> str:
    text = SCRIPT.replace("BUILDER", builder).replace("RESULT", result).replace("SECONDS", str(seconds))
    (folder / "app.py").write_text(text + "\nquery.stop()\n" + end)
    return str(folder / "app.py")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "rheostat.cli", "run", *arguments]


def finished(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end; everything that it keeps is under ``folder``."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, cwd=folder, env=environment(folder), timeout=180)


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYSPARK_SUBMIT_ARGS": QUICK_START}


def own_lines(errors: str) -> list[str]:
    return [line for line in errors.splitlines(keepends=True) if line.startswith("rheostat")]


def test_a_stateful_query_without_kafka_runs_sized_on_a_local_cluster(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    app = script(tmp_path, 8, result=COUNTS)
    options = ["--local", "2", "--policy", "spark-batch-ratio", "--set", "interval_s=2", "--interval", "1", "--journal", str(journal)]
    done = finished(tmp_path, *options, app, "--", "--my", "7")
    assert (done.returncode, done.stdout) == (0, "running --my 7\n"), done.stderr
    sizes, stays, missing = own_lines(done.stderr)
    assert "sizes this application: policy spark-batch-ratio, 1 to 2 executors, objective 10 s, a decision every 1 s" in sizes
    assert stays.startswith("rheostat: state stays where Spark has put it: ")
    assert missing == NO_KAFKA
    seen = [(record, record.observation) for record in read(journal) if record.observation and record.raw]
    assert len(seen) > 3
    for record, observation in seen:
        assert observation.executors in (1, 2)
        assert observation.lag_rows is None
        assert record.target in (1, 2)
    assert any("batches take" in (record.raw.reason if record.raw else "") for record, _ in seen)
    assert {observation.state_partitions for _, observation in seen} >= {2}


def test_in_shadow_it_only_advises_and_a_script_that_fails_shows_its_own_traceback(tmp_path: Path) -> None:
    app = script(tmp_path, 3, end="raise ValueError('out of bids')\n")
    done = finished(tmp_path, "--shadow", "--local", "1", "--interval", "1", app)
    assert (done.returncode, done.stdout) == (1, "running\n"), done.stderr
    watches, shadow, missing = own_lines(done.stderr)
    assert "watches this application" in watches
    assert shadow == "rheostat: shadow mode: nothing is changed\n"
    assert missing == NO_KAFKA
    assert f'Traceback (most recent call last):\n  File "{app}", line ' in done.stderr
    assert "\nValueError: out of bids\n" in done.stderr
    (journal,) = (tmp_path / "state" / "rheostat" / "journal").glob("app-*")
    records = [record for record in read(journal) if record.raw]
    assert records
    assert {record.rescaling.phase for record in records} == {"advised"}
    assert {record.observation.executors for record in records if record.observation} == {1}


def test_against_dynamic_allocation_it_does_not_scale_and_the_script_s_exit_code_is_kept(tmp_path: Path) -> None:
    moving = 'builder = builder.config("spark.dynamicAllocation.executorIdleTimeout", "60s")'
    done = finished(tmp_path, "--local", "1", "--interval", "1", script(tmp_path, 1, moving, "sys.exit(7)\n"))
    assert (done.returncode, done.stdout) == (7, "running\n"), done.stderr
    watches, conflict, _ = own_lines(done.stderr)
    assert "watches this application" in watches
    assert conflict.startswith("rheostat: Spark's own dynamic allocation is in effect: not scaling against it; ")


def test_a_script_with_a_local_master_of_its_own_is_watched(tmp_path: Path) -> None:
    app = script(tmp_path, 2, 'builder = builder.master("local[2]")')
    done = finished(tmp_path, "--local", "1", "--interval", "1", "--journal", str(tmp_path / "journal"), app)
    assert (done.returncode, done.stdout) == (0, "running\n"), done.stderr
    watches, local, _ = own_lines(done.stderr)
    assert "watches this application" in watches
    assert local.startswith("rheostat: master local[2] has no executors to scale; ")
    records = list(read(tmp_path / "journal"))
    assert {record.target for record in records} == {None}
    assert any(record.observation and record.observation.batch_s for record in records)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_whatever_ends_it_leaves_nothing_running(tmp_path: Path, number: signal.Signals) -> None:
    line = command("--local", "1", "--journal", str(tmp_path / "journal"), script(tmp_path, 600))
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(tmp_path)) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "running\n"
        started = psutil.Process(running.pid).children(recursive=True)
        assert sum("java" in process.name() for process in started) == 4  # driver, master, worker, executor
        running.send_signal(number)
        assert running.wait(GONE_DEADLINE_S + 30) == (-number if number == signal.SIGKILL else 128 + number)
    deadline = time.monotonic() + GONE_DEADLINE_S
    while any(map(lives, started)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert [process for process in started if lives(process)] == []


def lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
