"""Helpers for tests of drivers inside a cluster: an HDFS, and copies of its files."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from rheostat.local.spark_home import find_spark_home
from rheostat.machine.process import Child
from rheostat_lab.clusters.yarn.yarn_jars import yarn_class_path

DEADLINE_S = 400.0
SPARK_SUBMIT = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
UNDER_SUBMIT = str(Path(__file__).parents[2] / "deploy" / "submit" / "rheostat_run.py")
COPY = """
import sys
from pathlib import Path
from rheostat.spark.internals.hadoop_file_system import own_files

folder, files = sys.argv[1], own_files()
for name in files.names(folder):
    if (text := files.read_text(f"{folder}/{name}")) is not None:
        (Path(sys.argv[2]) / name).write_text(text)
"""


def until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {DEADLINE_S:g} s: {what}"
        time.sleep(0.2)


@contextmanager
def hdfs_of_one_node(tmp_path: Path) -> Iterator[str]:
    """Run an HDFS with one node."""
    home = find_spark_home()
    source = Path(__file__).parent / "java" / "MiniDfs.java"
    words = [str(home.jdk.java), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    words += ["-cp", yarn_class_path(home), str(source), str(tmp_path)]
    with Child(words, log=tmp_path / "dfs.log") as child:
        until("HDFS", lambda: (tmp_path / "uri").exists() or not child.alive)
        yield (tmp_path / "uri").read_text()


def copied(far: str, near: Path) -> Path:
    """Copy a folder of another file system to this computer."""
    near.mkdir()
    subprocess.run([sys.executable, "-c", COPY, far, str(near)], check=True, timeout=DEADLINE_S)
    return near


def halt(checkpoint: str) -> None:
    """Set the kill switch with the command line, as a user does."""
    words = [sys.executable, "-m", "rheostat.cli", "halt", checkpoint]
    done = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
