"""A stateful query under a supervisor, restarted with more executors and repartitioned state: its
output is that of an uninterrupted computation.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.e2e.repartition.counting_query import expected, feed, output
from tests.e2e.supervised_job import DEADLINE_S, RESCALES, Supervised, needs_rescaling, rheostat

from rheostat.journal.folder import read
from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.storage.local_files import LocalFileSystem

pytestmark = pytest.mark.e2e
FILES = 8
SCRIPT = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession

folder = Path(sys.argv[1])
spark = SparkSession.builder.appName("words").config("spark.sql.shuffle.partitions", "PARTITIONS").getOrCreate()

def keep(batch, number):
    rows = [[row["word"], row["count"]] for row in batch.collect()]
    (folder / "sink").mkdir(exist_ok=True)
    part = folder / "sink.part"
    part.write_text(json.dumps(sorted(rows)))
    part.replace(folder / "sink" / f"{number:03}")  # whoever looks meanwhile reads whole batches

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


def supervised(
    folder: Path, *options: str, trigger: str = "1 second", partitions: int = 3
) -> Supervised:
    script = SCRIPT.replace("TRIGGER", trigger).replace("PARTITIONS", str(partitions))
    return Supervised(folder, script, *options)


def batches(job: Supervised, number: int) -> None:
    job.until(f"{number} batches", lambda: len(output(job.folder)) >= number)


@needs_rescaling
def test_a_restart_with_a_repartition_changes_no_row(
    tmp_path: Path,
) -> None:
    feed(tmp_path, range(3))
    with supervised(tmp_path) as job:
        batches(job, 2)
        rheostat("restart", str(job.journal), "--executors", "2", "--partitions", "6")
        feed(tmp_path, range(3, FILES))
        job.restarted()
        batches(job, FILES)
        two = [record for record in read(job.journal) if record.observation]
        job.enough()
        restart = job.restarts()[0]
    assert output(tmp_path) == expected(FILES)
    assert read_checkpoint(str(tmp_path / "checkpoint"), LocalFileSystem()).partitions == 6
    assert [record.observation.target for record in two[-1:] if record.observation] == [2]
    assert (restart.executors_before, restart.executors) == (1, 2)
    assert (restart.partitions_before, restart.partitions, restart.refusal) == (3, 6, "")
    assert restart.down_s
    assert restart.down_s > 0
    explanation = rheostat("explain", str(job.journal))
    assert "restart 1: 1 -> 2 executors, 3 -> 6 state partitions: downtime" in explanation


@pytest.mark.skipif(RESCALES, reason="this PySpark gives a job other state partitions")
def test_an_older_pyspark_changes_the_size_but_rejects_a_repartition(
    tmp_path: Path,
) -> None:
    feed(tmp_path, range(3))
    window = ["--allow-repartition", "--maintenance-window", "00:00-24:00"]
    for more in (["--partitions", "6"], window):
        with supervised(tmp_path, *more) as refused:
            assert refused.process.wait(DEADLINE_S) == 2
    assert (tmp_path / "errors").read_text().count("need PySpark 4.3: stop the job") == 2
    with supervised(tmp_path) as job:
        batches(job, 2)
        with pytest.raises(subprocess.CalledProcessError) as fault:
            rheostat("restart", str(job.journal), "--partitions", "6")
        assert fault.value.returncode == 2
        rheostat("restart", str(job.journal), "--executors", "2")
        feed(tmp_path, range(3, FILES))
        job.restarted()
        batches(job, FILES)
        job.enough()
        restart = job.restarts()[0]
    assert output(tmp_path) == expected(FILES)
    assert (restart.executors_before, restart.executors, restart.refusal) == (1, 2, "")


@needs_rescaling
@pytest.mark.thorough
def test_limiting_partitions_are_repartitioned_in_the_maintenance_window(tmp_path: Path) -> None:
    feed(tmp_path, range(3))
    open_ = ["--allow-repartition", "--maintenance-window", "00:00-24:00 Europe/Berlin"]
    fixed = ["--policy", "fixed", "--set", "executors=2", "--restart-pause", "1"]
    with supervised(tmp_path, *open_, *fixed, partitions=1) as job:
        job.restarted()
        feed(tmp_path, range(3, FILES))
        batches(job, FILES)
        job.enough()
        (restart,) = job.restarts()
    assert output(tmp_path) == expected(FILES)
    assert read_checkpoint(str(tmp_path / "checkpoint"), LocalFileSystem()).partitions == 2
    assert (restart.executors, restart.partitions) == (2, 2)
    assert "its 1 state partitions limit it, 2 would suffice: rheostat restart" in restart.reason


@needs_rescaling
@pytest.mark.thorough
def test_a_new_supervisor_completes_an_interrupted_restart(tmp_path: Path) -> None:
    feed(tmp_path, range(3))
    with supervised(tmp_path, trigger="0 seconds") as job:
        batches(job, 2)
        feed(tmp_path, range(3, FILES))
        rheostat("restart", str(job.journal), "--executors", "2", "--partitions", "6")
        job.until("the rescale", (tmp_path / "checkpoint" / "_rheostat" / "lease.json").exists)
        job.process.kill()
        job.process.wait()
    with supervised(tmp_path, trigger="0 seconds") as job:
        job.until("the start", lambda: job.state().phase == "running")
        batches(job, FILES)
        job.enough()
        (restart,) = job.restarts()
    assert output(tmp_path) == expected(FILES)
    assert (restart.executors, restart.partitions, restart.refusal) == (2, 6, "")
