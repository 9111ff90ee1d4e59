"""A checkpoint on an object store: repartitioned, cut off, and served by a faulty store."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.e2e.gcs_here import STORES, RunStore
from tests.e2e.repartition import counting_query as counting
from tests.e2e.repartition.store_history import FILES
from tests.e2e.repartition.test_kills_on_spark import ROOT, environment
from tests.e2e.s3_here import ObjectStore, needs_s3, object_store

from rheostat_lab.clusters.session_options import DRIVER_FLAGS

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
on_each_store = pytest.mark.parametrize("run_store", STORES)
FOLDER = "checkpoints"
CHECKPOINT = f"{FOLDER}/counting"
POINTS = int(os.environ.get("STORE_KILLS", "30"))
HISTORIES = int(os.environ.get("STORE_HISTORIES", "4"))
KILLS = int(os.environ.get("STORE_HISTORY_KILLS", str(max(1, HISTORIES // 4))))
KILLED_WITHIN = 150
"""The process that plays the histories is killed before a random one of so many changes."""


def configure(folder: Path, settings: Mapping[str, str]) -> None:
    """Write the settings of Spark for programs that are run in a folder."""
    flags = {"spark.driver.extraJavaOptions": DRIVER_FLAGS}
    lines = [f"{name} {value}" for name, value in {**flags, **settings}.items()]
    (folder / "spark-defaults.conf").write_text("\n".join(lines))


def run(
    folder: Path, settings: Mapping[str, str], module: str, *words: str
) -> subprocess.CompletedProcess[str]:
    """Run a program of its own, because a JVM learns its class path at its start."""
    configure(folder, settings)
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        env={**environment(), "SPARK_CONF_DIR": str(folder)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def state_command(
    folder: Path, settings: Mapping[str, str], *words: str
) -> subprocess.CompletedProcess[str]:
    """Run ``rheostat state``."""
    return run(folder, settings, "rheostat.cli", "state", *words)


def killed(store: ObjectStore, folder: Path, after: int, module: str, *words: str) -> int:
    """Kill a program before the change of that number; return its exit code."""
    configure(folder, store.settings)
    begun = threading.Event()
    left = itertools.count(after, -1)

    def kill(path: str) -> None:
        if FOLDER in path and next(left) == 0:
            begun.wait()
            os.killpg(child.pid, signal.SIGKILL)

    store.faults.on_change = kill
    child = subprocess.Popen(
        [sys.executable, "-m", module, *words],
        env={**environment(), "SPARK_CONF_DIR": str(folder)},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    begun.set()
    code = child.wait()
    store.faults.on_change = None
    return code


def in_process(store: ObjectStore, folder: Path, module: str, *words: str) -> str:
    """Run a program with the settings of a store; return what it printed."""
    done = run(folder, store.settings, module, *words)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@on_each_store
def test_a_kill_at_any_request_loses_no_checkpoint(tmp_path: Path, run_store: RunStore) -> None:
    with run_store() as store:
        printed = in_process(
            store,
            tmp_path,
            "tests.e2e.repartition.store_kills",
            store.location,
            store.url,
            str(tmp_path / "work"),
            str(POINTS),
        )
        assert len(printed.splitlines()) >= POINTS


@on_each_store
def test_slow_downs_and_lost_responses_lose_no_line_or_checkpoint(
    tmp_path: Path, run_store: RunStore
) -> None:
    module = "tests.e2e.repartition.store_faults"
    with run_store() as store:
        words = (store.location, store.url, str(tmp_path / "work"))
        assert int(in_process(store, tmp_path, module, *words).split()[-1]) == 20


@on_each_store
def test_a_killed_repartition_continues_with_exact_output(
    tmp_path: Path, run_store: RunStore
) -> None:
    query = "tests.e2e.repartition.counting_on_store"
    with run_store() as store:
        checkpoint = f"{store.location}/{CHECKPOINT}"
        in_process(store, tmp_path, query, str(tmp_path), checkpoint, "0", "3")
        words = ("repartition", checkpoint, "--partitions", "5")
        code = killed(store, tmp_path, 15, "rheostat.cli", "state", *words)
        assert code == -signal.SIGKILL
        continued = state_command(tmp_path, store.settings, *words)
        assert continued.returncode == 0, continued.stderr
        in_process(store, tmp_path, query, str(tmp_path), checkpoint, "3", "5")
        inspected = state_command(tmp_path, store.settings, "inspect", checkpoint)
        assert "5 state partitions" in " ".join(inspected.stdout.split())
    assert counting.output(tmp_path) == counting.expected(5)


@on_each_store
def test_random_faults_and_kills_lose_and_repeat_no_row(
    tmp_path: Path, run_store: RunStore
) -> None:
    module, drawn = "tests.e2e.repartition.store_history", random.Random(HISTORIES)
    with run_store() as store:
        words = (str(tmp_path), store.location, store.url, str(HISTORIES))
        for _ in range(KILLS):
            after = drawn.randrange(KILLED_WITHIN)
            assert killed(store, tmp_path, after, module, *words) == -signal.SIGKILL
        printed = in_process(store, tmp_path, module, *words)
    sys.stdout.write(printed)
    histories = [json.loads(line) for line in printed.splitlines()]
    assert [history["seed"] for history in histories] == [*range(HISTORIES)]
    for seed, history in enumerate(histories):
        assert [*itertools.chain(*history["batches"])] == [*range(FILES)], history
        output = counting.output(tmp_path / str(seed))
        assert output == counting.expected_of(history["batches"]), history
        counts = {word: count for batch in output for word, count in batch}
        assert counts == Counter(word for file in range(FILES) for word in counting.words(file))


BAD_INPUT = {
    "a missing bucket": ("s3a://nobucket/orders", {}, ""),
    "missing credentials": ("s3a://streams/orders", {"access.key": "", "secret.key": ""}, ""),
    "a skewed clock": ("s3a://streams/orders", {}, "skewed"),
}


@needs_s3
@pytest.mark.parametrize("case", BAD_INPUT)
def test_a_rejecting_store_is_reported_in_one_line_with_exit_code_2(
    tmp_path: Path, case: str
) -> None:
    location, settings, command = BAD_INPUT[case]
    with object_store() as store:
        store.skewed = command == "skewed"
        given = {f"spark.hadoop.fs.s3a.{name}": value for name, value in settings.items()}
        simple = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
        given["spark.hadoop.fs.s3a.aws.credentials.provider"] = simple
        done = state_command(tmp_path, {**store.settings, **given}, "inspect", location)
    assert done.returncode == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("rheostat")]
    assert len(lines) == 1
    assert f"{location} cannot be read" in lines[0]
    assert "Traceback" not in done.stderr
