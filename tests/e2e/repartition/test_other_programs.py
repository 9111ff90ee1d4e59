"""Checkpoints of programs that do not use Rheostat: after repartitions up and down, the output is
that of an uninterrupted run."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.e2e.supervised_job import QUICK_START

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).parent / "programs"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STATE = "spark.sql.streaming.stateStore"
PROVIDERS = {
    "hdfs": [],
    "snapshot": [f"{STATE}.providerClass={ROCKSDB}"],
    "changelog": [
        f"{STATE}.providerClass={ROCKSDB}",
        f"{STATE}.rocksdb.changelogCheckpointing.enabled=true",
    ],
    "format-2": [
        f"{STATE}.providerClass={ROCKSDB}",
        f"{STATE}.rocksdb.changelogCheckpointing.enabled=true",
        f"{STATE}.checkpointFormatVersion=2",
    ],
}
COMMON = [
    "spark.ui.enabled=false",
    "spark.driver.bindAddress=127.0.0.1",
    "spark.driver.host=127.0.0.1",
    "spark.sql.session.timeZone=UTC",
    # The default class starts several processes per file on a local disk.
    "spark.sql.streaming.checkpointFileManagerClass=org.apache.spark.sql.execution.streaming"
    ".checkpointing.FileSystemBasedCheckpointFileManager",
]
LATE = "Python worker failed to connect back"
STARTS = 4
FILES_A_PART = 2
ROWS = 150


def feed(folder: Path, part: int) -> None:
    """Write the files of a part: customers repeat, some have no name, some order twice."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(part * FILES_A_PART, (part + 1) * FILES_A_PART):
        drawn = random.Random(number)
        rows = [json.dumps(row(drawn, number)) for _ in range(ROWS)]
        path = folder / f"{number:03}.json"
        path.write_text("\n".join(rows))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def row(drawn: random.Random, number: int) -> dict[str, object]:
    at = datetime(2026, 1, 1) + timedelta(seconds=number * 30 + drawn.random() * 30)
    return {
        "kind": drawn.choice(["order", "payment"]),
        "id": drawn.randrange(number * 20, number * 20 + 60),
        "customer": drawn.choice([None, "", "Zoë", *(f"customer-{n}" for n in range(25))]),
        "region": drawn.choice([None, "north", "süd"]),
        "amount": drawn.choice([None, *(f"{n}.{n:02}" for n in range(5))]),
        "at": at.isoformat(timespec="milliseconds"),
    }


def run(program: str, partitions: int, provider: str, folder: Path, of: str) -> None:
    """Read all existing files with a program."""
    settings = [*COMMON, f"spark.sql.shuffle.partitions={partitions}", *PROVIDERS[provider]]
    places = [folder / "input", folder / of / "checkpoint", folder / of / "output"]
    process([str(PROGRAMS / f"{program}.py"), *map(str, places), *settings])


def repartition(folder: Path, partitions: int) -> None:
    for offsets_folder in (folder / "checkpoint").rglob("offsets"):
        quieted(offsets_folder.parent)
        arguments = [
            "state",
            "repartition",
            str(offsets_folder.parent),
            "--partitions",
            str(partitions),
        ]
        process(["-m", "rheostat.cli", *arguments, *sink_of(folder)])


def quieted(checkpoint: Path) -> None:
    """Age the last batch, so that the command does not observe it for a running query."""
    for entry in [*checkpoint.glob("offsets/*"), *checkpoint.glob("commits/*")]:
        os.utime(entry, (1, 1))


def sink_of(folder: Path) -> list[str]:
    """Return the option with the program's output folder, if it writes files."""
    written = folder / "output"
    return ["--sink", str(written)] if (written / "_spark_metadata").exists() else []


def process(command: list[str]) -> None:
    """Run a program; Spark gives a Python worker 10 s to connect, which a busy machine may exceed:
    then the program is started again, as a user would, and continues from its checkpoint.
    """
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT / "rheostat-lab" / "src")))
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": QUICK_START,
    }
    for _ in range(STARTS):
        ended = subprocess.run(
            [sys.executable, *command], env=environment, capture_output=True, text=True
        )
        if ended.returncode == 0 or LATE not in ended.stderr:
            break
    assert ended.returncode == 0, f"{command}\n{ended.stdout[-2000:]}\n{ended.stderr[-4000:]}"


def output(folder: Path) -> list[str]:
    """Return all rows of all files, in any order."""
    return sorted(
        line
        for file in folder.rglob("*.json")
        if not file.name.startswith((".", "_"))
        for line in file.read_text(encoding="utf-8").splitlines()
    )


@pytest.mark.parametrize(
    ("program", "provider"),
    [
        ("orders_and_payments", "hdfs"),
        ("orders_and_payments", "changelog"),
        ("alarms", "snapshot"),
        ("alarms", "format-2"),
        ("visits", "changelog"),
        ("baskets", "hdfs"),
        ("baskets", "snapshot"),
        ("balances", "hdfs"),
        ("balances", "changelog"),
        ("sittings", "hdfs"),
        ("sittings", "snapshot"),
        ("reminders", "hdfs"),
        ("reminders", "changelog"),
        ("meters", "changelog"),
        ("meters", "format-2"),
    ],
)
def test_programs_have_unchanged_output_after_repartitions(
    tmp_path: Path, program: str, provider: str
) -> None:
    feed(tmp_path / "input", 0)
    run(program, 4, provider, tmp_path, "changed")
    shutil.copytree(tmp_path / "changed", tmp_path / "left alone")
    for part, partitions in ((1, 6), (2, 3)):
        repartition(tmp_path / "changed", partitions)
        feed(tmp_path / "input", part)
        run(program, 4, provider, tmp_path, "changed")
        run(program, 4, provider, tmp_path, "left alone")
        changed = output(tmp_path / "changed" / "output")
        assert changed == output(tmp_path / "left alone" / "output")
    assert len(changed) > ROWS / 3
