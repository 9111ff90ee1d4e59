"""kill -9 against a repartition of what real Spark has written: no checkpoint is lost, and Spark
goes on with every one as if nothing had been."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.repartition import counting_query as counting
from tests.e2e.repartition.kills_on_spark import NEW, contents, copied

from rheostat.errors import BadInput
from rheostat.repartition.disk import Disk
from rheostat.repartition.own_journal import OwnJournal
from rheostat.repartition.preflight import read_own
from rheostat.repartition.repartition_protocol import CLOSED, OPEN_NEW, OPEN_OLD
from rheostat.repartition.rescale import rescale, undo
from rheostat.repartition.spark_rewriter import SparkRewriter

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[3]
OLD = 3
KEEP_EVERY = 15
"""Of the cured checkpoints every 15th is gone on with by Spark; the others are the same files."""
RANDOM_KILLS = 20


def quiet(_: Path) -> None:
    """Every query here has ended."""


def environment() -> dict[str, str]:
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "src", ROOT / "rheostat-lab" / "src")))
    return {**os.environ, "PYTHONPATH": paths}


def begun(spark: Any, folder: Path) -> None:
    """A query that has counted three files."""
    counting.feed(folder.parent, range(3))
    counting.run(spark, folder, folder.parent / "input")


def goes_on(spark: Any, folder: Path) -> None:
    """Let Spark count two more files, and compare all output with an uninterrupted run's."""
    counting.feed(folder.parent, range(3, 5))
    counting.run(spark, folder, folder.parent / "input")
    assert counting.output(folder) == counting.expected(5), folder


@pytest.mark.parametrize("provider", [counting.ROCKSDB, counting.HDFS])
def test_killed_at_every_change_of_a_file(
    driver: dict[str, str], tmp_path: Path, provider: str
) -> None:
    spark = counting.session(provider, OLD)
    try:
        begun(spark, tmp_path / "ready")
        done = copied(tmp_path / "ready", tmp_path / "done")
        rescale(str(done / "checkpoint"), NEW, lambda _: SparkRewriter(spark), check_stopped=quiet)
        command = [sys.executable, "-m", "tests.e2e.repartition.kills_on_spark"]
        killing = subprocess.run(
            [*command, str(tmp_path), str(KEEP_EVERY)],
            env=environment(),
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert killing.returncode == 0, killing.stderr
        points = [json.loads(line) for line in killing.stdout.splitlines()]
        assert len(points) >= 60
        assert {point["phase"] for point in points} >= CLOSED | OPEN_NEW | OPEN_OLD
        assert {point.get("resumed", "done") for point in points} == {"done"}
        assert {point["rolled back"] for point in points} <= {"ready", "done"}
        rolled_back = {point["phase"] for point in points if point["rolled back"] == "done"}
        assert rolled_back <= {"asked", "done"}
        kept = sorted((tmp_path / "kept").iterdir())
        assert len(kept) >= 8
        for folder in kept:
            goes_on(spark, copied(folder, tmp_path / folder.name))
    finally:
        spark.stop()


def test_killed_at_random_times(driver: dict[str, str], tmp_path: Path) -> None:
    """The command itself, its JVM included."""
    random_times = random.Random(24)
    spark = counting.session(counting.ROCKSDB, OLD)
    try:
        begun(spark, tmp_path / "ready")
        whole_s = _whole_s(copied(tmp_path / "ready", tmp_path / "whole"))
        phases = set()
        for number in range(RANDOM_KILLS):
            folder = copied(tmp_path / "ready", tmp_path / f"killed-{number}")
            _killed(folder / "checkpoint", random_times.uniform(0, whole_s))
            story = OwnJournal(folder / "checkpoint", Disk()).read()
            phases.add(story.phase if story else "asked")
            _cured(spark, folder, resume=number % 2 == 0)
            goes_on(spark, folder)
            shutil.rmtree(folder)
        sys.stdout.write(f"killed in {sorted(phases)}, within {whole_s:.1f} s\n")
    finally:
        spark.stop()


def _command(checkpoint: Path) -> subprocess.Popen[bytes]:
    for entry in [*checkpoint.glob("offsets/*"), *checkpoint.glob("commits/*")]:
        os.utime(entry, (1, 1))  # else a running query is waited for
    asked = ["state", "rescale", str(checkpoint), "--partitions", str(NEW)]
    return subprocess.Popen(
        [sys.executable, "-m", "rheostat.cli", *asked],
        env=environment(),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _whole_s(folder: Path) -> float:
    """Return how long the command needs from the first line of its journal to the last."""
    assert _command(folder / "checkpoint").wait() == 0
    story = OwnJournal(folder / "checkpoint", Disk()).read()
    assert story is not None
    assert story.phase == "done"
    return max(story.times_s.values()) - min(story.times_s.values())


def _killed(checkpoint: Path, after_s: float) -> None:
    command = _command(checkpoint)
    while not (checkpoint / "_rheostat" / "journal.jsonl").exists() and command.poll() is None:
        time.sleep(0.01)
    time.sleep(after_s)
    os.killpg(command.pid, signal.SIGKILL)
    command.wait()


def _cured(spark: Any, folder: Path, resume: bool) -> None:
    checkpoint = str(folder / "checkpoint")
    with suppress(BadInput):  # the kill came after the end
        if resume:
            rescale(checkpoint, NEW, lambda _: SparkRewriter(spark), check_stopped=quiet)
        else:
            undo(checkpoint, check_stopped=quiet)
    if resume:
        assert read_own(folder / "checkpoint")[0].partitions == NEW
    else:
        ready = folder.parent / "ready"
        assert contents(folder) == contents(ready)
