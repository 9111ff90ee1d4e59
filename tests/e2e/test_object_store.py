"""Journal, checkpoint and kill switch on an object store, through Hadoop's connectors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.drivers_elsewhere import DEADLINE_S, copied, until
from tests.e2e.gcs_here import STORES, RunStore, google_store, needs_gcs
from tests.e2e.run_on_cluster import IDLE, Run
from tests.e2e.s3_here import needs_s3, object_store
from tests.e2e.test_hadoop_files import printed

from rheostat.journal.folder import read
from rheostat_lab.clusters.standalone_cluster import Cluster

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
QUIET_HOUR = """
import sys
from pathlib import Path
from rheostat.spark.internals.hadoop_file_system import own_files
from tests.unit.spark.journaling.test_object_store_requests import QuietJob

job = QuietJob(Path(sys.argv[2], "near"), own_files(), f"{sys.argv[1]}/journal")
for _ in range(720):
    job.tick()
"""


def halt(checkpoint: str) -> subprocess.CompletedProcess[str]:
    """Set the kill switch as a user does, with the environment's configuration."""
    words = [sys.executable, "-m", "rheostat.cli", "halt", checkpoint]
    return subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S)


@pytest.mark.parametrize("run_store", STORES)
def test_a_journal_and_a_halt_on_an_object_store_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_store: RunStore
) -> None:
    with run_store() as store, Cluster(cores=2) as cluster:
        checkpoint, journal = f"{store.location}/checkpoint", f"{store.location}/journal"
        script = IDLE.replace(".trigger", f'.option("checkpointLocation", "{checkpoint}").trigger')
        run = Run(tmp_path / "run", cluster, cluster.url, store.settings, script, journal=journal)
        monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "run" / "conf"))
        with run.child:
            run.await_line("rheostat: journal ")
            run.request_size(2)
            until("two executors", lambda: len(cluster.executors()) == 2 or not run.child.alive)
            until("a batch", lambda: store.requests("checkpoint/commits")["PUT"] > 1)
            done = halt(checkpoint)
            assert done.returncode == 0, done.stderr
            run.await_line("rheostat: halted since")
            batches = store.requests("checkpoint/commits")["PUT"]
            run.request_size(1)
            until("batches", lambda: store.requests("checkpoint/commits")["PUT"] > batches + 2)
            assert len(cluster.executors()) == 2
            assert run.ended() == 0, run.log_text()[-4000:]
        records = list(read(copied(journal, tmp_path / "copy")))
    assert records[-1].rescaling.phase == "halted"
    assert [record.target for record in records if record.raw][-1] == 2
    assert (tmp_path / "copy" / "memory.json").exists()


@pytest.mark.parametrize(
    ("run_store", "most"),
    [
        pytest.param(object_store, 400, id="s3a", marks=needs_s3),
        pytest.param(google_store, 1050, id="gs", marks=(needs_gcs, needs_s3)),
    ],
)
def test_an_idle_hour_needs_a_bounded_number_of_object_store_requests(
    tmp_path: Path, run_store: RunStore, most: int
) -> None:
    with run_store() as store:
        printed(QUIET_HOUR, store.location, tmp_path, store.settings)
        requests = store.requests("")
    sys.stdout.write(f"{dict(requests)}\n")
    assert 300 < requests.total() <= most


def test_a_halt_without_the_s3a_jars_is_rejected_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    done = halt("s3a://streams/checkpoint")
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if "s3a://" in line]
    assert len(lines) == 1, done.stderr
    assert "--packages org.apache.hadoop:hadoop-aws:" in lines[0]
