"""Reads the last batches of all queries with the class that is compiled in the driver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rheostat.spark.internals.internals import internals_of
from rheostat.spark.internals.stream_executions import Queries

pytestmark = pytest.mark.e2e


def over(spark: SparkSession, folder: Path, files: int) -> Any:
    """Return a query that has run one batch per file and has ended."""
    folder.mkdir()
    for number in range(files):
        (folder / f"{number}.txt").write_text("a row\n")
    rows = spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder))
    query = rows.writeStream.format("noop").start()
    query.processAllAvailable()
    query.stop()
    return query


def test_last_batches_of_several_queries_are_read_in_one_call(
    local_spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = internals_of(local_spark).queries

    def one_by_one(*_: object) -> int:
        raise AssertionError("the queries were asked one by one: the class was not compiled")

    monkeypatch.setattr(Queries, "last_batch", one_by_one)
    both = {
        "one": over(local_spark, tmp_path / "one", 1),
        "three": over(local_spark, tmp_path / "three", 3),
    }
    assert queries.last_batches(both) == {"one": 0, "three": 2}
    assert queries.last_batches({}) == {}
