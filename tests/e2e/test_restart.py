"""A stateful query under a supervisor, restarted with more executors and other state partitions:
its output is that of an uninterrupted computation.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark import __version__ as pyspark_version
from tests.e2e.repartition.counting_query import expected, feed, output

from rheostat.journal.folder import read
from rheostat.journal.restart_mail import FOLDER
from rheostat.repartition.checkpoints.checkpoint import read_checkpoint
from rheostat.repartition.checkpoints.checkpoint_files import LocalFiles
from rheostat.restart.story import Story
from rheostat.restart.story_journal import StoryJournal

pytestmark = pytest.mark.e2e
DEADLINE_S = 240.0
FILES = 8
RESCALES = pyspark_version >= "4.3"
needs_rescaling = pytest.mark.skipif(not RESCALES, reason="other state partitions need PySpark 4.3")
QUICK_START = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"
SCRIPT = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession

folder = Path(sys.argv[1])
spark = SparkSession.builder.appName("words").config("spark.sql.shuffle.partitions", "PARTITIONS").getOrCreate()

def keep(batch, number):
    rows = [[row["word"], row["count"]] for row in batch.collect()]
    (folder / "sink").mkdir(exist_ok=True)
    (folder / "sink" / f"{number:03}").write_text(json.dumps(sorted(rows)))

source = spark.readStream.schema("word string").option("maxFilesPerTrigger", 1)
counted = source.json(str(folder / "input")).groupBy("word").count()
query = (
    counted.writeStream.outputMode("update").foreachBatch(keep).queryName("words")
    .option("checkpointLocation", str(folder / "checkpoint"))
    .trigger(processingTime="TRIGGER").start()
)
while query.isActive and not (folder / "enough").exists():
    query.awaitTermination(0.2)
query.stop()
"""  # noqa: E501


class Supervised:
    """``rheostat run --actuator restart`` around the counting script, in ``folder``."""

    def __init__(
        self, folder: Path, *more: str, trigger: str = "1 second", partitions: int = 3
    ) -> None:
        self.folder, self.journal = folder, folder / "journal"
        script = SCRIPT.replace("TRIGGER", trigger).replace("PARTITIONS", str(partitions))
        (folder / "app.py").write_text(script)
        options = ["--actuator", "restart", "--local", "2", "--max", "2", "--interval", "1"]
        line = ["run", *options, "--restart-pause", "3600", "--journal", str(self.journal), *more]
        self.errors = (folder / "errors").open("a")
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "rheostat.cli",
                *line,
                str(folder / "app.py"),
                "--",
                str(folder),
            ],
            stderr=self.errors,
            env={**os.environ, "PYSPARK_SUBMIT_ARGS": QUICK_START},
        )

    def __enter__(self) -> Supervised:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        self.errors.close()

    def story(self) -> Story:
        return StoryJournal(self.journal / FOLDER).last() or Story()

    def until(self, what: str, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not reached():
            said = (self.folder / "errors").read_text()[-3000:]
            assert self.process.poll() is None, f"it ended before {what}: {said}"
            assert time.monotonic() < deadline, f"not within {DEADLINE_S:g} s: {what}: {said}"
            time.sleep(0.2)

    def batches(self, number: int) -> None:
        self.until(f"{number} batches", lambda: len(output(self.folder)) >= number)


def rheostat(*arguments: str) -> str:
    """Run a command and return what it prints."""
    command = [sys.executable, "-m", "rheostat.cli", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@needs_rescaling
def test_a_restart_at_another_size_with_other_state_partitions_changes_no_row(
    tmp_path: Path,
) -> None:
    feed(tmp_path, range(3))
    with Supervised(tmp_path) as job:
        job.batches(2)
        rheostat("restart", str(job.journal), "--executors", "2", "--partitions", "6")
        feed(tmp_path, range(3, FILES))
        job.until("the restart", lambda: job.story().restarts == 1)
        job.until("the start", lambda: job.story().phase == "running")
        job.batches(FILES)
        two = [each for each in read(job.journal) if each.observation]
        (tmp_path / "enough").touch()
        assert job.process.wait(DEADLINE_S) == 0
        story = StoryJournal(job.journal / FOLDER).restarts()[0]
    assert output(tmp_path) == expected(FILES)
    assert read_checkpoint(str(tmp_path / "checkpoint"), LocalFiles()).partitions == 6
    assert [each.observation.target for each in two[-1:] if each.observation] == [2]
    assert (story.executors_before, story.executors) == (1, 2)
    assert (story.partitions_before, story.partitions, story.refusal) == (3, 6, "")
    assert story.down_s
    assert story.down_s > 0
    said = rheostat("explain", str(job.journal))
    assert "restart 1: 1 -> 2 executors, 3 -> 6 state partitions: downtime" in said


@pytest.mark.skipif(RESCALES, reason="this PySpark gives a job other state partitions")
def test_an_older_pyspark_restarts_a_job_at_another_size_and_refuses_other_state_partitions(
    tmp_path: Path,
) -> None:
    feed(tmp_path, range(3))
    window = ["--allow-repartition", "--maintenance-window", "00:00-24:00"]
    for more in (["--partitions", "6"], window):
        with Supervised(tmp_path, *more) as refused:
            assert refused.process.wait(DEADLINE_S) == 2
    assert (tmp_path / "errors").read_text().count("need PySpark 4.3: stop the job") == 2
    with Supervised(tmp_path) as job:
        job.batches(2)
        with pytest.raises(subprocess.CalledProcessError) as fault:
            rheostat("restart", str(job.journal), "--partitions", "6")
        assert fault.value.returncode == 2
        rheostat("restart", str(job.journal), "--executors", "2")
        feed(tmp_path, range(3, FILES))
        job.until("the restart", lambda: job.story().restarts == 1)
        job.until("the start", lambda: job.story().phase == "running")
        job.batches(FILES)
        (tmp_path / "enough").touch()
        assert job.process.wait(DEADLINE_S) == 0
        story = StoryJournal(job.journal / FOLDER).restarts()[0]
    assert output(tmp_path) == expected(FILES)
    assert (story.executors_before, story.executors, story.refusal) == (1, 2, "")


@needs_rescaling
@pytest.mark.thorough
def test_partitions_that_bind_are_rescaled_in_the_window_with_the_restart(tmp_path: Path) -> None:
    feed(tmp_path, range(3))
    open_ = ["--allow-repartition", "--maintenance-window", "00:00-24:00 Europe/Berlin"]
    fixed = ["--policy", "fixed", "--set", "executors=2", "--restart-pause", "1"]
    with Supervised(tmp_path, *open_, *fixed, partitions=1) as job:
        job.until("the restart", lambda: job.story().restarts == 1)
        job.until("the start", lambda: job.story().phase == "running")
        feed(tmp_path, range(3, FILES))
        job.batches(FILES)
        (tmp_path / "enough").touch()
        assert job.process.wait(DEADLINE_S) == 0
        (story,) = StoryJournal(job.journal / FOLDER).restarts()
    assert output(tmp_path) == expected(FILES)
    assert read_checkpoint(str(tmp_path / "checkpoint"), LocalFiles()).partitions == 2
    assert (story.executors, story.partitions) == (2, 2)
    assert "its 1 state partitions bind, 2 would do: rheostat restart" in story.reason


@needs_rescaling
@pytest.mark.thorough
def test_a_supervisor_that_is_killed_in_a_restart_is_followed_by_the_next(tmp_path: Path) -> None:
    feed(tmp_path, range(3))
    with Supervised(tmp_path, trigger="0 seconds") as job:
        job.batches(2)
        feed(tmp_path, range(3, FILES))
        rheostat("restart", str(job.journal), "--executors", "2", "--partitions", "6")
        job.until("the rescale", (tmp_path / "checkpoint" / "_rheostat" / "lease.json").exists)
        job.process.kill()
        job.process.wait()
    with Supervised(tmp_path, trigger="0 seconds") as job:
        job.until("the start", lambda: job.story().phase == "running")
        job.batches(FILES)
        (tmp_path / "enough").touch()
        assert job.process.wait(DEADLINE_S) == 0
        (story,) = StoryJournal(job.journal / FOLDER).restarts()
    assert output(tmp_path) == expected(FILES)
    assert (story.executors, story.partitions, story.refusal) == (2, 6, "")
