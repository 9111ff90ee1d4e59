"""Checks the benchmark's queries: streams over files against batch computations."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from rheostat_lab.demo.verdict import judge, read_sink
from rheostat_lab.nexmark.encoding import tables, to_table
from rheostat_lab.nexmark.events import KINDS, events, number_before
from rheostat_lab.nexmark.queries import find_query
from rheostat_lab.nexmark.streams import file_streams
from rheostat_lab.report.finished_run import Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = 8
RATE_PER_S = 10_000.0
"""The reference's rate: a million events take 100 seconds."""

_START_MS = 1_763_662_000_000
_CLOSING_MS = 3_600_000

SETTINGS = {
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.driver.memory": "1g",
}


@dataclass(frozen=True, slots=True)
class Checked:
    """A query that was played over files, and the seconds that the stream took."""

    query: str
    seed: int
    events: int
    verdict: Verdict
    seconds: float


def write_events(folder: Path, seed: int, count: int) -> None:
    """Write the first ``count`` events as Parquet files ``folder``/KIND/N.parquet, in the order of
    their times, plus one event of each kind an hour later, which closes all windows.
    """
    step = -(-count // FILES)
    for number, first in enumerate(range(0, count, step)):
        made = tables(seed, first, min(step, count - first), RATE_PER_S, _START_MS)
        for kind, table in made.items():
            _write(folder / kind / f"{number}.parquet", table, number)
    for kind in KINDS:
        last = to_table(events(kind, seed, number_before(kind, count), 1), _START_MS + _CLOSING_MS)
        _write(folder / kind / f"{FILES}.parquet", last, FILES)


def check(spark: SparkSession, name: str, folder: Path, work: Path) -> tuple[Verdict, float]:
    """Play a query as a stream over the files of ``folder``, one file per source and batch, and
    compare its complete output; return the verdict and the stream's duration in seconds.
    """
    query = find_query(name)
    begin, sink = time.monotonic(), work / "sink"
    stream: Any = query.frame(file_streams(spark, folder, query.sources)).writeStream
    stream = stream.option("checkpointLocation", str(work / "checkpoint"))
    stream.trigger(availableNow=True).start(str(sink)).awaitTermination()
    seconds = time.monotonic() - begin
    return judge(name, read_events(folder, query.sources), read_sink(sink)), seconds


def read_events(folder: Path, kinds: tuple[str, ...]) -> Mapping[str, pa.Table]:
    """Return the events in files, by kind."""
    return {kind: pq.read_table(folder / kind) for kind in kinds}


def _write(path: Path, table: pa.Table, number: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    # A file stream reads in the order of file times, and two files may be written within a
    # millisecond.
    os.utime(path, (1_000_000 + number, 1_000_000 + number))
