"""kill -9 of the commands and their JVM at random times in every phase."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.repartition import counting_query as counting
from tests.e2e.repartition.kills_on_spark import NEW, contents, copied
from tests.e2e.repartition.test_kills_on_spark import (
    OLD,
    ROOT,
    assert_continues,
    begun,
    environment,
    quiet,
)

from rheostat.errors import BadInput
from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.repartition.repartition_log import RepartitionLog, RepartitionState
from rheostat.repartition.spark_repartition import repartition, undo
from rheostat.repartition.spark_rewriter import SparkRewriter
from rheostat.storage.local_files import LocalFileSystem

pytestmark = pytest.mark.thorough

FORWARD = ("asked", "begun", "written", "verified", "locked", "placed", "committed")
BACK = ("withdrawing", "unlocked")
KILLS = 20
MOST_TRIES = 4
"""Number of attempts to hit a phase, which lasts only milliseconds."""


@dataclass(frozen=True, slots=True)
class Way:
    """A command, its start, and the duration of each of its phases in seconds."""

    command: tuple[str, ...]
    start: Path
    phases_s: dict[str, float]


def test_a_kill_in_any_phase_is_recovered(driver: dict[str, str], tmp_path: Path) -> None:
    """Kill in each phase in turn, at a random time within it."""
    drawn = random.Random(24)
    spark = counting.session(counting.ROCKSDB, OLD)
    try:
        begun(spark, tmp_path / "ready")
        after = tmp_path / "after"
        forward = way(tmp_path / "ready", after, "repartition", "--partitions", str(NEW))
        back = way(after, tmp_path / "undone", "undo")
        hit: Counter[str] = Counter()
        recovered = 0
        for wanted in phases_to_hit(hit):
            one = back if wanted in BACK else forward
            folder = copied(one.start, tmp_path / "killed")
            at_s = drawn.uniform(0, one.phases_s[wanted])
            hit[killed(folder / "checkpoint", one, wanted, at_s)] += 1
            recover(spark, folder, resume=recovered % 2 == 0)
            assert_continues(spark, folder)
            recovered += 1
        sys.stdout.write(f"{recovered} kills: {dict(hit)}\n")
        assert hit.keys() >= {*FORWARD, *BACK}
    finally:
        spark.stop()


def phases_to_hit(hit: Counter[str]) -> Iterator[str]:
    """Yield all phases in turn, then those that were not hit."""
    order = (*FORWARD, *BACK)
    for number in range(KILLS):
        yield order[number % len(order)]
    for phase in order:
        for _ in range(MOST_TRIES):
            if not hit[phase]:
                yield phase


def way(start: Path, copy: Path, name: str, *options: str) -> Way:
    """Run the command once on a copy, and return the durations of its phases."""
    folder = copied(start, copy)
    one = Way((name, *options), start, {})
    began = time.time()
    assert started(folder / "checkpoint", one).wait() == 0
    state = read(folder / "checkpoint")
    assert state is not None
    marks = sorted([(began, "asked"), *((at, phase) for phase, at in state.times_s.items())])
    for (at, phase), (later, _) in pairwise(marks):
        one.phases_s[phase] = later - at
    return one


def started(checkpoint: Path, one: Way) -> subprocess.Popen[bytes]:
    for entry in [*checkpoint.glob("offsets/*"), *checkpoint.glob("commits/*")]:
        os.utime(entry, (1, 1))  # otherwise the command observes it for a running query
    name, *options = one.command
    return subprocess.Popen(
        [sys.executable, "-m", "rheostat.cli", "state", name, str(checkpoint), *options],
        env=environment(),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def killed(checkpoint: Path, one: Way, phase: str, after_s: float) -> str:
    """Kill a command ``after_s`` seconds into a phase, and return the phase that it was in."""
    command = started(checkpoint, one)
    while command.poll() is None:
        state = read(checkpoint)
        if phase == "asked" or (state is not None and phase in state.times_s):
            break
        time.sleep(0.0005)
    time.sleep(after_s)
    with suppress(ProcessLookupError):  # it has already ended
        os.killpg(command.pid, signal.SIGKILL)
    command.wait()
    state = read(checkpoint)
    return state.phase if state else "asked"


def recover(spark: Any, folder: Path, resume: bool) -> None:
    checkpoint = str(folder / "checkpoint")
    state = read(folder / "checkpoint")
    on_its_way_back = state is not None and state.phase in BACK
    with suppress(BadInput):  # the kill was before the beginning or after the end
        if resume and not on_its_way_back:
            repartition(checkpoint, NEW, lambda _: SparkRewriter(spark), check_stopped=quiet)
        else:
            undo(checkpoint, check_stopped=quiet)
    if resume and not on_its_way_back:
        assert read_checkpoint(str(folder / "checkpoint"), LocalFileSystem()).partitions == NEW
    else:
        assert contents(folder) == contents(folder.parent / "ready")


def read(checkpoint: Path) -> RepartitionState | None:
    return RepartitionLog(str(checkpoint), LocalFileSystem()).read()
