"""Plays histories on an object store: the counting query and repartitions of its checkpoint.

The store is faulty, and cuts this process off at random changes; the parent may kill it. Every step
is repeated until it succeeds, and a new process continues with the step that was interrupted.
Prints the number of cuts of each history and the input files of its batches, a line of JSON each.
"""

from __future__ import annotations

import json
import os
import random
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from tests.e2e.repartition import counting_query as counting
from tests.e2e.repartition.store_kills import control

from rheostat.errors import BadInput, RheostatError
from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.repartition.preflight import unended
from rheostat.repartition.repartition_log import RepartitionLog
from rheostat.repartition.spark_repartition import repartition, undo
from rheostat.repartition.spark_rewriter import SparkRewriter
from rheostat.spark.internals.hadoop_file_system import own_files
from rheostat.storage.file_system import numbered

FAULT_SHARE = 0.05
CUT_SHARE = 0.6
UNDO_SHARE = 0.3
CUT_WITHIN = 40
CHECKPOINTS = "checkpoints"
MOST_TRIES = 20
QUICK = {
    "spark.hadoop.fs.s3a.attempts.maximum": "1",
    "spark.hadoop.fs.s3a.retry.interval": "50ms",
    "spark.hadoop.fs.s3a.retry.throttle.interval": "50ms",
    "spark.hadoop.fs.gs.http.max.retry": "3",
    "spark.task.maxFailures": "1",
}
FILES = 6
"""The number of input files in the end."""
STEPS = (("run", 2), ("repartition", 5), ("run", 4), ("repartition", 2), ("run", FILES))
"""Commands with the number of files that have arrived, or of state partitions."""

Failures = (PySparkException, Py4JError, RheostatError, OSError)


def once(spark: Any, folder: Path, checkpoint: str, step: tuple[str, int], back: bool) -> None:
    """Try one step; an undo first where ``back`` is set."""
    command, number = step
    files = own_files()
    if command == "run":
        if not numbered(files, f"{checkpoint}/offsets"):
            files.delete(checkpoint)  # Spark rejects what a start without a batch has left there
        counting.feed(folder, range(len(list((folder / "input").glob("*"))), number))
        counting.run(spark, folder, checkpoint=checkpoint)
        return
    files.delete(f"{checkpoint}/_rheostat/lease.json")  # its holder may be this process
    if back:
        with suppress(BadInput):  # before the beginning or after the end
            undo(checkpoint, files=files, check_stopped=lambda *_: None)
    try:
        repartition(
            checkpoint,
            number,
            lambda _: SparkRewriter(spark),
            files=files,
            check_stopped=lambda *_: None,
        )
    except BadInput:  # it has the number already, because the process was killed at the very end
        if unended(RepartitionLog(checkpoint, files).read()):
            raise


def played(spark: Any, folder: Path, checkpoint: str, server: str, chance: random.Random) -> int:
    """Do the steps that are left; return how often the process was cut off."""
    done, cuts = folder / "done", 0
    for number in range(int(done.read_text()) if done.exists() else 0, len(STEPS)):
        is_cut, back = chance.random() < CUT_SHARE, False
        for _ in range(MOST_TRIES):
            after = f"die-after-{chance.randrange(CUT_WITHIN)}"
            control(server, after if is_cut else "live")
            try:
                once(spark, folder, checkpoint, STEPS[number], back)
                break
            except Failures as fault:
                sys.stderr.write(f"step {number}: {str(fault).splitlines()[0][:200]}\n")
                cuts += is_cut
                is_cut = False
                back = chance.random() < UNDO_SHARE or "state undo completes" in str(fault)
        else:
            raise RheostatError(f"step {number} did not succeed")
        done.write_text(str(number + 1))
    return cuts


def main(folder: Path, bucket: str, server: str, histories: int) -> None:
    spark = counting.session(counting.ROCKSDB, 3, QUICK)
    spark.sparkContext.setLogLevel("OFF")
    for seed in range(histories):
        control(server, f"faults-{FAULT_SHARE}")
        own, checkpoint = folder / str(seed), f"{bucket}/{CHECKPOINTS}/{seed}"
        own.mkdir(exist_ok=True)
        spark.conf.set("spark.sql.shuffle.partitions", "3")
        cuts = played(spark, own, checkpoint, server, random.Random(seed))
        control(server, "live")
        control(server, "faults-0")  # what follows only reads the result
        assert read_checkpoint(checkpoint, own_files()).partitions == STEPS[-2][1]
        batches = counting.committed_batches(checkpoint, own_files())
        sys.stdout.write(json.dumps({"seed": seed, "cuts": cuts, "batches": batches}) + "\n")
        sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
