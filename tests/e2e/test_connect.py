"""A Spark Connect server is sized for a client's query; all processes are those of a user."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from rheostat.journal.folder import read
from rheostat.machine.free_ports import free_port
from rheostat.model import Record

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.thorough,
    pytest.mark.skipif(find_spec("grpc_status") is None, reason="needs rheostat[connect]"),
]
DEADLINE_S = 300.0
CLIENT = """
import sys, time
from pathlib import Path
from pyspark.sql import SparkSession, functions as sf

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", "2")
rows = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
counts = rows.groupBy((sf.col("value") % 7).alias("key")).count().writeStream
counts = counts.outputMode("complete").format("memory").queryName("counts")
query = counts.trigger(processingTime="1 second").start()
keys = []
while not Path("enough").exists() or len(keys) < 7:
    time.sleep(0.5)
    assert query.isActive, query.exception()
    keys = sorted(row["key"] for row in spark.table("counts").collect())
print(keys, flush=True)
query.stop()
spark.stop()
"""


def test_a_clients_stateful_query_gets_the_decided_executors(tmp_path: Path) -> None:
    port = free_port()
    sizing = ["--policy", "fixed", "--set", "executors=2", "--max", "2", "--interval", "1"]
    command = [sys.executable, "-m", "rheostat.cli", "connect-server", str(port), "--local", "2"]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    journal = tmp_path / "journal"
    with (tmp_path / "said").open("w") as log:
        server = subprocess.Popen(
            [*command, *sizing, "--journal", str(journal)],
            cwd=tmp_path,
            env=environment,
            stdout=log,
            stderr=log,
        )

    def log_text() -> str:
        return (tmp_path / "said").read_text()

    def until(what: str, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not reached():
            assert server.poll() is None, log_text()
            assert time.monotonic() < deadline, f"not within {DEADLINE_S:g} s: {what}: {log_text()}"
            time.sleep(0.2)

    def sized(record: Record) -> bool:
        observation = record.observation
        return bool(
            observation
            and observation.query == "counts"
            and observation.executors == 2
            and observation.batch_s
        )

    try:
        until("the server", lambda: f"Spark Connect: sc://127.0.0.1:{port}" in log_text())
        line = [sys.executable, "-c", CLIENT, f"sc://127.0.0.1:{port}"]
        client = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        until("two executors and a batch", lambda: any(map(sized, read(journal))))
        (tmp_path / "enough").touch()
        shown, _ = client.communicate(timeout=DEADLINE_S)
        assert (client.returncode, shown) == (0, "[0, 1, 2, 3, 4, 5, 6]\n")
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(DEADLINE_S)
    assert code == 128 + signal.SIGTERM
