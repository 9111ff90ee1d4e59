"""The driver's status store contains the same values as its REST interface."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rheostat.local.local_session import start_session
from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.internals.status_store import StatusStore
from rheostat.spark.sensing.rest import Rest

SLOW_S = 60.0


class Nothing:
    """A disabled UI."""

    def get(self, page: str) -> None:
        raise AssertionError(f"the UI was asked for {page}")


@pytest.fixture(scope="module")
def spark(driver: dict[str, str]) -> Iterator[SparkSession]:
    """A session with a UI that has run a job of two stages."""
    session = start_session("local[2]", {"spark.sql.shuffle.partitions": "2"}, "pages")
    session.range(1000).repartition(3).groupBy("id").count().collect()
    yield session
    session.stop()


@pytest.mark.parametrize(
    "page",
    [
        "jobs",
        "jobs?status=succeeded",
        "jobs/0",
        "jobs/1",
        "stages/0?details=false&withSummaries=true&quantiles=0.5,1.0",
        "stages/0?details=true",
        "jobs/999",
    ],
)
def test_a_page_of_the_status_store_equals_the_ui(spark: SparkSession, page: str) -> None:
    context = spark.sparkContext
    rest = Rest(context.uiWebUrl, context.applicationId, SLOW_S)
    assert StatusStore(Gateway(spark), Nothing()).get(page) == rest.get(page)


@pytest.mark.parametrize("page", ["executors", "allexecutors"])
def test_executors_of_the_status_store_equal_the_ui(spark: SparkSession, page: str) -> None:
    context = spark.sparkContext
    (ours,) = StatusStore(Gateway(spark), Nothing()).get(page)
    (theirs,) = Rest(context.uiWebUrl, context.applicationId, SLOW_S).get(page)
    # The list includes the driver, whose resource use differs at every read.
    moves = {"memoryUsed", "memoryMetrics", "peakMemoryMetrics", "totalDuration", "totalGCTime"}
    assert ours.keys() == theirs.keys()
    assert {name: ours[name] for name in ours.keys() - moves} == {
        name: theirs[name] for name in theirs.keys() - moves
    }
