"""If the autoscaler cannot attach, an application under ``rheostat run`` has the executors that the
user's Spark settings give it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rheostat_lab.clusters.standalone_cluster import Cluster

pytestmark = pytest.mark.e2e
SCRIPT = """
import time
from pyspark.sql import SparkSession

spark = SparkSession.builder.config("spark.executor.cores", "1").getOrCreate()
context = spark.sparkContext._jsc.sc()
until_s = time.monotonic() + 90
while context.getExecutorIds().size() < 2 and time.monotonic() < until_s:
    time.sleep(0.2)
print("executors", context.getExecutorIds().size(), flush=True)
"""


@pytest.mark.parametrize(
    ("journal", "message"),
    [
        ("/proc/self/journal", "not attached, the job runs with Spark's own settings"),
        ("unknown-scheme://a/journal", "2 executors, which Spark's own settings allow, are"),
    ],
    ids=["known before the start", "known after the start"],
)
def test_an_unwritable_journal_leaves_the_application_at_its_configured_size(
    journal: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(SCRIPT)
    with Cluster(cores=2) as cluster:
        ran = subprocess.run(
            [
                *(sys.executable, "-m", "rheostat.cli", "run", "--max", "2"),
                *("--journal", journal, "--master", cluster.url, "app.py"),
            ],
            cwd=tmp_path,
            env={**os.environ, **cluster.driver_environment()},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert ran.stdout.endswith("executors 2\n"), ran.stderr
    assert ran.returncode == 0
    assert message in ran.stderr
