"""Every example runs as a reader would run it."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rheostat.journal.folder import read
from rheostat.local.local_session import start_session
from rheostat.model import Limits
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.standalone_cluster import Cluster

pytestmark = pytest.mark.e2e
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state folder, which contains the journals."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "rheostat" / "journal"


@pytest.fixture(scope="module")
def session(cluster: Cluster, driver: dict[str, str]) -> Iterator[SparkSession]:
    """The session that an example gets from its builder."""
    options = session_options(Limits(max_executors=3))
    spark = start_session(cluster.url, {**options, "spark.sql.shuffle.partitions": "3"}, "examples")
    spark.sparkContext.setLogLevel("OFF")
    yield spark
    spark.stop()


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("name", ["01_attach.py", "02_shadow.py"])
def test_session_examples_decide_and_write_a_journal(name, state, capsys):
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    journals = list(state.iterdir())
    assert len(journals) == 1
    records = list(read(journals[0]))
    assert any(record.observation and record.raw for record in records)
    assert capsys.readouterr().out


@pytest.mark.thorough
def test_the_run_example_exits_with_the_code_of_the_script(tmp_path):
    command = [sys.executable, "-m", "rheostat.cli", "run", "--max", "1", "--journal"]
    ended = subprocess.run(
        [*command, str(tmp_path / "journal"), str(EXAMPLES / "03_run_around.py"), "--", "5"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    assert list(read(tmp_path / "journal"))


def test_the_policy_example_passes_the_policy_contract():
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES / "04_own_policy.py")], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert len(ended.stdout.splitlines()) > 5
