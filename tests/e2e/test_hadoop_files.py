"""Hadoop's file system meets the contract on a local disk, a real HDFS and an object store."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pyspark
import pytest
from tests.contract.file_system_checks import CHECKS
from tests.e2e.drivers_elsewhere import DEADLINE_S, hdfs_of_one_node
from tests.e2e.gcs_here import STORES, RunStore
from tests.e2e.s3_here import object_store

pytestmark = pytest.mark.e2e
# Use a separate process: a JVM reads its class path at its start.
RUN_CHECKS = """
import sys
from pathlib import Path
from rheostat.spark.internals.hadoop_file_system import own_files
from tests.contract.file_system_checks import CHECKS

for check in CHECKS:
    here = Path(sys.argv[2], check.__name__)
    here.mkdir()
    check(own_files(), f"{sys.argv[1]}/{check.__name__}", here)
    print(check.__name__)
"""

RUN_RACE = """
import sys
from rheostat.spark.internals.hadoop_file_system import own_files

files, name = own_files(), f"{sys.argv[1]}/race"
slow = files._created(name, overwrite=False)
slow.write(bytearray(b"slow"))
print(files.create(name, "fast"))
try:
    slow.close()
    print("both succeeded")
except Exception:
    print("refused")
print(files.create(name, "again"), files.read_text(name))
files.create(f"{sys.argv[1]}/single", "x")
"""


def passed(folder: str, here: Path, settings: Mapping[str, str] | None = None) -> list[str]:
    """Run all checks in a folder and return the names of those that passed."""
    return printed(RUN_CHECKS, folder, here, settings)


def printed(
    program: str, folder: str, here: Path, settings: Mapping[str, str] | None = None
) -> list[str]:
    """Return the output of a program that uses a folder."""
    lines = [f"{name} {value}" for name, value in (settings or {}).items()]
    (here / "spark-defaults.conf").write_text("\n".join(lines))
    done = subprocess.run(
        [sys.executable, "-c", program, folder, str(here)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "SPARK_CONF_DIR": str(here)},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


ALL = [check.__name__ for check in CHECKS]


def test_hadoop_on_a_local_disk_meets_the_contract(tmp_path: Path) -> None:
    assert passed(f"file:{tmp_path}/files", tmp_path) == ALL


@pytest.mark.skipif(pyspark.__version__ < "4.3", reason="state is repartitioned with PySpark 4.3")
@pytest.mark.parametrize(
    ("scheme", "connector"), [("s3a", "hadoop:hadoop-aws:"), ("gs", "gcs-connector-")]
)
def test_a_missing_connector_is_named_in_one_line(
    tmp_path: Path, scheme: str, connector: str
) -> None:
    arguments = ["repartition", f"{scheme}://bucket/orders", "--partitions", "7"]
    ended = subprocess.run(
        [sys.executable, "-m", "rheostat.cli", "state", *arguments],
        env={**os.environ, "SPARK_CONF_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    lines = [line for line in ended.stderr.splitlines() if line.startswith("rheostat")]
    assert (ended.returncode, len(lines)) == (2, 1), ended.stderr
    assert connector in lines[0]


@pytest.mark.thorough
def test_hdfs_meets_the_contract(tmp_path: Path) -> None:
    with hdfs_of_one_node(tmp_path) as hdfs:
        (tmp_path / "here").mkdir()
        assert passed(f"{hdfs}/files", tmp_path / "here") == ALL


@pytest.mark.thorough
@pytest.mark.parametrize("run_store", STORES)
def test_an_object_store_meets_the_contract(tmp_path: Path, run_store: RunStore) -> None:
    with run_store() as store:
        (tmp_path / "here").mkdir()
        assert passed(f"{store.location}/files", tmp_path / "here", store.settings) == ALL


@pytest.mark.thorough
@pytest.mark.parametrize("run_store", STORES)
def test_an_object_store_rejects_the_second_of_two_concurrent_writers(
    tmp_path: Path, run_store: RunStore
) -> None:
    with run_store() as store:
        lines = printed(RUN_RACE, store.location, tmp_path, store.settings)
        assert lines == ["True", "refused", "False fast"]
        if run_store is object_store:
            assert dict(store.requests("single")) == {"PUT": 1}
