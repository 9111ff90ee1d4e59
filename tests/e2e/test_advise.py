"""``rheostat advise`` reads from event logs of real Spark what the queries really did."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.fs
import pytest
from tests.e2e.drivers_elsewhere import DEADLINE_S, hdfs_of_one_node
from tests.e2e.s3_here import BUCKET, needs_s3, object_store
from tests.unit.replay.event_logs.written_log import written_log

from rheostat.machine.free_ports import LOOPBACK

pytest.importorskip("pandas", reason="comes with the extra sim")
pytestmark = pytest.mark.e2e

APP = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession

events, truth, codec, rolling = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").appName("written")
options = {
    "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2",
    "spark.eventLog.enabled": "true", "spark.eventLog.dir": Path(events).as_uri(),
    "spark.eventLog.rolling.enabled": rolling, "spark.eventLog.compress": "true",
    "spark.eventLog.compression.codec": codec,
}
for name, value in options.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 500).load()
counted = source.writeStream.queryName("orders").foreachBatch(lambda rows, batch: rows.count())
query = counted.start()
while len(query.recentProgress) < 24:
    query.awaitTermination(0.2)
query.stop()
progress = query.recentProgress
seen = [[one["batchId"], one["numInputRows"]] for one in progress]
Path(truth).write_text(json.dumps(seen))
spark.stop()
"""


@pytest.mark.parametrize(("codec", "rolling"), [("zstd", "true"), ("lz4", "false")])
def test_a_real_log_is_read_and_analysed(tmp_path: Path, codec: str, rolling: str) -> None:
    app, events, truth = tmp_path / "app.py", tmp_path / "events", tmp_path / "truth.json"
    app.write_text(APP)
    events.mkdir()
    (events / "broken").write_text("no event log\n" * 30)
    run = [sys.executable, str(app), str(events), str(truth), codec, rolling]
    subprocess.run(run, check=True, timeout=240, capture_output=True)
    out = tmp_path / "advice.json"
    command = ["-m", "rheostat", "advise", str(events), "--master", "local[1]", "--out", str(out)]
    subprocess.run([sys.executable, *command], check=True, timeout=240, capture_output=True)
    rows = {row["name"]: row for row in json.loads(out.read_text())["queries"]}
    assert rows[None]["cannot"] == "no line is an event of Spark"
    batches = [rows_of for _, rows_of in json.loads(truth.read_text()) if rows_of]
    row = rows["written"]
    assert row["query"] == "orders"
    assert (row["facts"]["batches"], row["facts"]["rows"]) >= (len(batches), sum(batches))
    assert row["facts"]["failed_tasks"] == 0
    assert row["malformed"] == 0
    assert row["advice"] is not None, row["cannot"]
    assert row["advice"]["sizes"] == [1]


@needs_s3
def test_every_log_of_an_object_store_is_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "advice.json"
    with object_store() as store:
        settings = {
            "ACCESS_KEY_ID": "nobody",
            "SECRET_ACCESS_KEY": "nothing",
            "REGION": "us-east-1",
        }
        for name, value in (settings | {"ENDPOINT_URL": store.url}).items():
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setenv("NO_PROXY", LOOPBACK)
        bucket, _ = pyarrow.fs.FileSystem.from_uri(f"s3://{BUCKET}")
        for number in range(40):
            batches = 3 + 40 * (number == 20)
            log = "\n".join(written_log(lambda t_s: 100.0 + t_s, batches)).replace(
                "app-1", f"a{number}"
            )
            with bucket.open_output_stream(f"{BUCKET}/logs/a{number}") as file:
                file.write(log.encode())
        command = ["advise", f"s3a://{BUCKET}/logs", "--master", "local[1]", "--out", str(out)]
        words = [sys.executable, "-m", "rheostat", *command]
        subprocess.run(words, check=True, timeout=240, capture_output=True)
    rows = {row["application"]: row for row in json.loads(out.read_text())["queries"]}
    assert set(rows) == {f"a{number}" for number in range(40)}
    assert [name for name, row in rows.items() if row["advice"]] == ["a20"]
    assert all("the recording shows" in row["cannot"] for row in rows.values() if row["cannot"])


UPLOAD = """
import sys
from pathlib import Path
from rheostat.spark.internals.hadoop_file_system import own_files

for log in Path(sys.argv[1]).iterdir():
    own_files().upload(log, f"{sys.argv[2]}/{log.name}")
"""


def test_matching_hdfs_logs_are_read_with_sparks_hadoop_client(
    tmp_path: Path,
) -> None:
    logs, out, hdfs = tmp_path / "logs", tmp_path / "advice.json", tmp_path / "hdfs"
    logs.mkdir()
    hdfs.mkdir()
    for name, batches in (("orders-1", 43), ("audit-1", 3)):
        text = "\n".join(written_log(lambda t_s: 100.0 + t_s, batches))
        (logs / name).write_text(text.replace("app-1", name))
    with hdfs_of_one_node(hdfs) as uri:
        far = f"{uri}/logs"
        words = [sys.executable, "-c", UPLOAD, str(logs), far]
        subprocess.run(words, check=True, timeout=DEADLINE_S)
        command = ["advise", far, "--application", "orders", "--master", "local[1]"]
        words = [sys.executable, "-m", "rheostat", *command, "--out", str(out)]
        subprocess.run(words, check=True, timeout=DEADLINE_S, capture_output=True)
        refused, unmatched = (
            subprocess.run(
                [sys.executable, "-m", "rheostat", "advise", *words],
                timeout=DEADLINE_S,
                capture_output=True,
                text=True,
                check=False,
            )
            for words in ([f"{uri}/none"], [far, "--application", "billing"])
        )
    (row,) = json.loads(out.read_text())["queries"]
    assert row["application"] == "orders-1"
    assert row["advice"] is not None
    assert refused.returncode == 2
    assert f"there is no event log at {uri}/none" in refused.stderr
    assert unmatched.returncode == 2
    assert f"no event log in {far} matches --application 'billing'" in unmatched.stderr
