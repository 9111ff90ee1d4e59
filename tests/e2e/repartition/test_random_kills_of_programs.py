"""kill -9 at random times of ``rheostat state repartition`` on checkpoints of unrelated programs:
both commands repair each one, and the program continues as if nothing had happened.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.e2e.repartition.kills_on_spark import copied
from tests.e2e.repartition.test_other_programs import feed, output, process, quieted, run, sink_of
from tests.e2e.repartition.test_random_kills import BACK, FORWARD, Way, killed, read, way

from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.storage.local_files import LocalFileSystem

pytestmark = pytest.mark.thorough

OLD, NEW = 4, 6
KILLS = 3


@pytest.mark.parametrize(
    ("program", "provider"),
    [("balances", "hdfs"), ("meters", "format-2"), ("orders_and_payments", "changelog")],
)
def test_a_program_continues_after_a_kill_and_a_recovery(
    driver: dict[str, str], tmp_path: Path, program: str, provider: str
) -> None:
    drawn = random.Random(program)
    feed(tmp_path / "input", 0)
    run(program, OLD, provider, tmp_path, "changed")
    ready = copied(tmp_path / "changed", tmp_path / "ready")
    options = ["--partitions", str(NEW), *sink_of(tmp_path / "changed")]
    forward = way(ready, tmp_path / "changed", "repartition", *options)
    feed(tmp_path / "input", 1)
    copied(ready, tmp_path / "left alone")
    run(program, OLD, provider, tmp_path, "left alone")
    uninterrupted = output(tmp_path / "left alone" / "output")
    hit: Counter[str] = Counter()
    for number, wanted in enumerate(drawn.sample(FORWARD, KILLS)):
        folder = copied(ready, tmp_path / "changed")  # a file sink's log contains its full path
        at_s = drawn.uniform(0, forward.phases_s[wanted])
        hit[killed(folder / "checkpoint", forward, wanted, at_s)] += 1
        recover(folder / "checkpoint", forward, resume=number % 2 == 0)
        run(program, OLD, provider, tmp_path, "changed")
        assert output(folder / "output") == uninterrupted, hit
    sys.stdout.write(f"{program}, {provider}: {dict(hit)}\n")


def recover(checkpoint: Path, forward: Way, resume: bool) -> None:
    """Resume the repartition, or undo it."""
    state = read(checkpoint)
    assert state is None or state.phase not in BACK
    quieted(checkpoint)
    partitions = read_checkpoint(str(checkpoint), LocalFileSystem()).partitions
    if resume and (state is None or state.phase != "done"):
        name, *options = forward.command
        process(["-m", "rheostat.cli", "state", name, str(checkpoint), *options])
        partitions = NEW
    elif state is not None and not resume:
        process(["-m", "rheostat.cli", "state", "undo", str(checkpoint)])
        partitions = OLD
    assert read_checkpoint(str(checkpoint), LocalFileSystem()).partitions == partitions
