"""``rheostat run`` of scripts that do not use Rheostat, in a process as a user starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import dropwhile
from pathlib import Path

import psutil
import pyspark
import pytest

from rheostat.journal.folder import read
from rheostat.model import Decision, Observation, Record
from rheostat_lab.clusters.standalone_cluster import Cluster

pytestmark = pytest.mark.e2e
DEADLINE_S, GONE_DEADLINE_S = 300.0, 60.0
NO_KAFKA = (
    "rheostat: no kafka= given: the lag is derived from completed batches of a Kafka source, and"
    " unknown for other sources (a policy that needs it then keeps the size)\n"
)
SCRIPT = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession, functions as sf

builder = SparkSession.builder.appName("counts").config("spark.sql.shuffle.partitions", "2")
BUILDER
spark = builder.getOrCreate()
rows = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
query = RESULT.writeStream.outputMode("update").format("noop").trigger(processingTime="1 second").start()
while query.lastProgress is None or query.lastProgress["batchId"] < 1:
    query.awaitTermination(0.2)
print("running", *sys.argv[1:], flush=True)
while not Path("enough").exists():
    query.awaitTermination(0.2)
query.stop()
"""  # noqa: E501
COUNTS = 'rows.groupBy((sf.col("value") % 7).alias("key")).count()'
QUICK_START = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"
"""Driver options that a user may have set; here they save CPU time."""

COMMAND = (sys.executable, "-m", "rheostat.cli", "run", "--interval", "1")
SPARK_SUBMIT = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
UNDER_SUBMIT = str(Path(__file__).parents[2] / "deploy" / "submit" / "rheostat_run.py")


def script(
    folder: Path, builder: str = "", end: str = "", result: str = 'rows.where("value % 7 = 0")'
) -> str:
    """Write an application that runs until the file ``enough`` exists."""
    (folder / "app.py").write_text(
        SCRIPT.replace("BUILDER", builder).replace("RESULT", result) + end
    )
    return str(folder / "app.py")


class Run:
    """``rheostat run`` with all its files in ``folder``."""

    def __init__(
        self, folder: Path, *arguments: str, command: Sequence[str] = COMMAND, **variables: str
    ) -> None:
        environment = {
            **os.environ,
            "XDG_STATE_HOME": str(folder / "state"),
            "PYSPARK_SUBMIT_ARGS": QUICK_START,
            **variables,
        }
        self.folder = folder
        with (folder / "output").open("w") as output, (folder / "errors").open("w") as errors:
            self.process = subprocess.Popen(
                [*command, *arguments], stdout=output, stderr=errors, cwd=folder, env=environment
            )

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text()

    @property
    def errors(self) -> str:
        return (self.folder / "errors").read_text()

    @property
    def own_lines(self) -> list[str]:
        return [
            line for line in self.errors.splitlines(keepends=True) if line.startswith("rheostat")
        ]

    def records(self) -> list[Record]:
        """Return the records so far, from the configured journal or the default one."""
        journals = [
            self.folder / "journal",
            *(self.folder / "state" / "rheostat" / "journal").glob("app-*"),
        ]
        return [record for journal in journals for record in read(journal)]

    def decided(self) -> list[tuple[Record, Observation, Decision]]:
        """Return the ticks with an observation and a decision."""
        return [
            (record, record.observation, record.raw)
            for record in self.records()
            if record.observation and record.raw
        ]

    def until(self, what: str, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not reached():
            assert self.process.poll() is None, f"it ended before {what}: {self.errors}"
            assert time.monotonic() < deadline, f"not within {DEADLINE_S:g} s: {what}"
            time.sleep(0.1)

    def started(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def java(self) -> list[psutil.Process]:
        """Return the Java processes: driver, master, worker, executors; a process may end before
        its name is read."""
        started = self.started()
        return [
            process
            for process in psutil.process_iter(["name"])
            if process in started and "java" in process.info["name"]
        ]

    def ended_by(self, number: signal.Signals) -> int:
        """End it with a signal and return the exit code, once all processes that it started have
        ended."""
        started = self.started()
        self.process.send_signal(number)
        return self._left_nothing(started)

    def finished(self) -> int:
        """Let the application finish and return the exit code, once all processes that it started
        have ended."""
        self.until("it runs", lambda: self.output.startswith("running"))
        started = self.started()
        (self.folder / "enough").touch()
        return self._left_nothing(started)

    def _left_nothing(self, started: list[psutil.Process]) -> int:
        code = self.process.wait(DEADLINE_S)
        deadline = time.monotonic() + GONE_DEADLINE_S
        while any(map(lives, started)) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert [process for process in started if lives(process)] == []
        return code

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def listening(process: psutil.Process) -> set[str]:
    return {
        connection.laddr.ip
        for connection in process.net_connections()
        if connection.status == "LISTEN"
    }


def lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_a_stateful_query_is_autoscaled_locally_and_sigterm_cleans_up(
    tmp_path: Path,
) -> None:
    options = [
        "--local",
        "2",
        "--policy",
        "spark-batch-ratio",
        "--set",
        "interval_s=2",
        "--journal",
        str(tmp_path / "journal"),
    ]
    with Run(tmp_path, *options, script(tmp_path, result=COUNTS), "--", "--my", "7") as run:
        run.until("it runs", lambda: run.output == "running --my 7\n")
        run.until(
            "decisions by the batches",
            lambda: sum("batches take" in raw.reason for _, _, raw in run.decided()) > 1,
        )
        run.until(
            "its state is seen",
            lambda: any(observation.state_partitions == 2 for _, observation, _ in run.decided()),
        )
        sizes, _, stays, missing = run.own_lines
        assert len(run.java()) >= 4
        assert run.ended_by(signal.SIGTERM) == 128 + signal.SIGTERM
    assert (
        "autoscales this application: policy spark-batch-ratio, 1 to 2 executors, objective 10 s, a"
        " decision every 1 s" in sizes
    )
    assert stays.startswith("rheostat: state stays where Spark has put it: ")
    assert missing == NO_KAFKA
    executors = [observation.executors for _, observation, _ in run.decided()]
    registered = set(
        dropwhile(lambda count: count == 0, executors)
    )  # on a loaded machine the first observation may precede the executors
    assert registered
    assert registered <= {1, 2}
    for record, observation, _ in run.decided():
        # The offsets of the rate source are counted; they are seconds of rows.
        assert observation.lag_rows is None or observation.lag_unit == "offsets"
        assert record.target in (1, 2)


def test_shadow_mode_only_advises_and_a_failing_script_shows_its_traceback(
    tmp_path: Path, cluster: Cluster
) -> None:
    one = 'builder = builder.config("spark.cores.max", "1")'
    app = script(tmp_path, one, end="raise ValueError('out of bids')\n")
    with Run(
        tmp_path, "--shadow", "--master", cluster.url, app, **cluster.driver_environment()
    ) as run:
        run.until("advice", lambda: bool(run.decided()))
        assert (run.finished(), run.output) == (1, "running\n"), run.errors
    watches, _, shadow, missing = run.own_lines
    assert "observes this application" in watches
    assert shadow == "rheostat: shadow mode: nothing is changed\n"
    assert missing == NO_KAFKA
    assert f'Traceback (most recent call last):\n  File "{app}", line ' in run.errors
    assert "\nValueError: out of bids\n" in run.errors
    assert {record.rescaling.phase for record, _, _ in run.decided()} == {"advised"}
    assert {observation.executors for _, observation, _ in run.decided()} == {1}


def test_spark_submit_autoscales_an_unchanged_script_from_its_configuration(
    tmp_path: Path, cluster: Cluster
) -> None:
    given_settings = {
        "policy": "fixed",
        "policy.executors": "2",
        "limits.max": "2",
        "loop.interval_s": "0.5",
        "journal": "journal",
    }
    confs = [
        word
        for name in given_settings
        for word in ("--conf", f"spark.rheostat.{name}={given_settings[name]}")
    ]
    submit = [SPARK_SUBMIT, "--master", cluster.url, *confs]
    app = script(tmp_path)
    with Run(
        tmp_path,
        UNDER_SUBMIT,
        app,
        "--of-its-own",
        command=submit,
        **cluster.driver_environment(),
    ) as run:
        run.until("two executors", lambda: any(o.executors == 2 for _, o, _ in run.decided()))
        (tmp_path / "enough").touch()
        assert run.process.wait(DEADLINE_S) == 0, run.errors
    lines = run.output.splitlines()  # Spark's launcher merges both streams
    assert "running --of-its-own" in lines
    assert {raw.target for _, _, raw in run.decided()} == {2}
    assert any("policy fixed, 1 to 2 executors" in line for line in lines)


@pytest.mark.thorough
def test_with_dynamic_allocation_the_script_runs_unscaled_and_cleans_up(
    tmp_path: Path,
) -> None:
    moving = (
        'builder = builder.config("spark.dynamicAllocation.enabled", "true")'
        '.config("spark.dynamicAllocation.executorIdleTimeout", "60s")'
    )
    files = tmp_path / "files"
    files.mkdir()
    with Run(
        tmp_path, "--local", "1", script(tmp_path, moving, "sys.exit(7)\n"), TMPDIR=str(files)
    ) as run:
        assert (run.finished(), run.output) == (7, "running\n"), run.errors
    assert list(files.glob("rheostat-cluster-*")) == []
    watches, _, conflict, _ = run.own_lines
    assert "observes this application" in watches
    assert conflict.startswith(
        "rheostat: Spark's own dynamic allocation is in effect: not scaling against it; "
    )


def test_a_script_with_a_local_master_is_observed(tmp_path: Path, cluster: Cluster) -> None:
    app = script(tmp_path, 'builder = builder.master("local[2]")')
    with Run(
        tmp_path,
        "--master",
        cluster.url,
        "--journal",
        "journal",
        app,
        **cluster.driver_environment(),
    ) as run:
        run.until(
            "a batch is seen",
            lambda: any(entry.observation and entry.observation.batch_s for entry in run.records()),
        )
        assert (run.finished(), run.output) == (0, "running\n"), run.errors
    unused, watches, _, local, _ = run.own_lines
    assert unused.startswith("rheostat: spark.master=local[2] (the script): --master spark://")
    assert "observes this application" in watches
    assert local.startswith("rheostat: master local[2] has no executors to scale; ")
    assert {record.target for record in run.records()} == {None}


@pytest.mark.thorough
def test_a_killed_parent_leaves_no_java_process_and_ports_stay_on_loopback(
    tmp_path: Path,
) -> None:
    with Run(
        tmp_path, "--shadow", "--local", "2", script(tmp_path), TMPDIR=str(tmp_path)
    ) as run:  # a killed process cannot clean up
        run.until("it runs", lambda: run.output == "running\n")
        java = run.java()
        assert len(java) == 4
        assert {
            host.removeprefix("::ffff:") for process in java for host in listening(process)
        } == {"127.0.0.1"}
        assert run.ended_by(signal.SIGKILL) == -signal.SIGKILL


def settings_inside(folder: Path, *command: str, **variables: str) -> tuple[dict[str, str], str]:
    """Run a script with its own settings and those of a file; return the effective settings in its
    sessions, and the log."""
    (folder / "conf").mkdir(exist_ok=True)
    (folder / "conf" / "spark-defaults.conf").write_text(OWN_DEFAULTS)
    (folder / "own.py").write_text(OWN_SCRIPT)
    environment = {
        **os.environ,
        "SPARK_CONF_DIR": str(folder / "conf"),
        "XDG_STATE_HOME": str(folder / "state"),
        "PYSPARK_SUBMIT_ARGS": QUICK_START,
        **variables,
    }
    done = subprocess.run(
        [*command, str(folder / "own.py")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split(" = ") for line in done.stdout.splitlines()), done.stderr


OWN_DEFAULTS = "spark.cores.max 4\nspark.executor.memory=600m\nspark.ui.port 0\n"
OWN_SCRIPT = """
from pyspark.sql import SparkSession

NAMES = ("cores.max", "executor.memory", "executor.cores", "app.name", "decommission.enabled")
for number, cores in enumerate((2, 1)):
    builder = SparkSession.builder.appName("own").config("spark.executor.cores", cores)
    spark = builder.getOrCreate()
    settings = spark.sparkContext.getConf()
    for name in NAMES:
        print(number, name, "=", settings.get("spark." + name, "none"))
    spark.newSession()
    spark.stop()
"""


@pytest.mark.thorough
def test_user_settings_are_kept_and_every_application_gets_its_own_limits(
    tmp_path: Path, cluster: Cluster
) -> None:
    variables = {**cluster.driver_environment(), "MASTER": cluster.url}
    before, _ = settings_inside(tmp_path, sys.executable, **variables)
    rheostat = (sys.executable, "-m", "rheostat.cli", "run", "--interval", "1", "--json")
    after, error_output = settings_inside(tmp_path, *rheostat, **variables)
    assert before["0 cores.max"] == "4"
    assert before["1 executor.cores"] == "1"
    added = {name for name, value in before.items() if value == "none"}
    assert added == {"0 decommission.enabled", "1 decommission.enabled"}
    assert after == before | dict.fromkeys(added, "true")
    status = json.loads(error_output.splitlines()[-1])
    limits = [application["limits"] for application in status["applications"]]
    assert limits == [{"min": 1, "max": 2}, {"min": 1, "max": 4}]
    assert len({application["journal"] for application in status["applications"]}) == 2
    own = [line for line in error_output.splitlines() if line.startswith("rheostat: ")]
    assert (
        sum("has room for 2 executors of 2: 1 to 2 executors, not 1 to 8" in line for line in own)
        == 1
    )
    assert sum("has started another application" in line for line in own) == 1
