"""A real Prometheus scrapes a real Spark job and fires the alerts for its disturbances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.prometheus_here import Query, firing, needs_prometheus, prometheus, wait_for

import rheostat
from rheostat.config import LoopOptions
from rheostat.local.local_session import start_session

pytestmark = [pytest.mark.e2e, pytest.mark.thorough, needs_prometheus]


def value(query: Query, expression: str) -> float | None:
    answers = query(expression)
    return float(answers[0]["value"][1]) if answers else None


@pytest.fixture
def spark(driver: dict[str, str]) -> Iterator[SparkSession]:
    session = start_session("local-cluster[1,1,1024]", {"spark.sql.shuffle.partitions": "2"}, "job")
    yield session
    session.stop()


def test_halting_and_ending_a_scraped_job_fire_alerts(spark: SparkSession, tmp_path: Path) -> None:
    handle = rheostat.attach(
        spark,
        limits=(1, 1),
        loop=LoopOptions(interval_s=1.0),
        journal=tmp_path / "journal",
        serve="0",
    )
    source = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
    stream = source.writeStream.format("noop").trigger(processingTime="1 second").start()
    event = handle.start_event
    assert event is not None
    assert event.serve
    with prometheus(tmp_path, event.serve) as query:

        def counted() -> float:
            return value(query, "rheostat_rows_total") or 0.0

        def processed() -> int:
            return sum(batch["numInputRows"] for batch in stream.recentProgress)

        wait_for(lambda: value(query, "rheostat_executors") == 1)
        # The rate is unknown before the first batch, so compare two moments after it.
        wait_for(lambda: counted() > 100)
        counted_before, processed_before = counted(), processed()
        wait_for(lambda: counted() > counted_before + 1000)
        more = processed() - processed_before
        assert counted() - counted_before == pytest.approx(more, rel=0.3)
        assert "RheostatHalted" not in firing(query)
        handle.halt()
        wait_for(lambda: firing(query) == {"RheostatHalted"})
        handle.resume()
        wait_for(lambda: not firing(query))
        handle.stop()
        wait_for(lambda: "RheostatGone" in firing(query))
    stream.stop()
