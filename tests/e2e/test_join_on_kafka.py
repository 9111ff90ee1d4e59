"""A stream-stream join of two Kafka topics on several executors; the whole output is compared."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rheostat.kafka.jars import source_jars
from rheostat.local.local_session import start_session
from rheostat.model import Limits
from rheostat.spark.sensing.query_shape import SHUFFLE_PARTITIONS
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.demo.demo_environment import as_words
from rheostat_lab.demo.pipeline import QUERY_OPTIONS, start_query
from rheostat_lab.demo.verdict import verify
from rheostat_lab.nexmark.load import open_topics
from rheostat_lab.services.broker import Broker

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

TOPICS = {"auctions": "join-auctions", "persons": "join-persons"}
ROWS = 4000


@pytest.fixture
def spark(cluster: Cluster, driver: dict[str, str]) -> Iterator[SparkSession]:
    options = session_options(Limits.between(2, 2), jars=source_jars().paths)
    session = start_session(
        cluster.url, {**QUERY_OPTIONS, **options, SHUFFLE_PARTITIONS: "2"}, "join on Kafka"
    )
    yield session
    session.stop()


def test_two_topics_are_joined_on_two_executors(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    for topic in TOPICS.values():
        broker.create_topic(topic, 2)
    sources = open_topics(broker.bootstrap, as_words(TOPICS), seed=7)
    query = start_query(spark, "q3", broker.bootstrap, TOPICS, str(tmp_path), 0.0, 1.0)
    for first in range(0, ROWS, ROWS // 2):
        assert sources.write(first, ROWS // 2, int(time.time() * 1000)) == ROWS // 2
        assert sources.flush(30) == 0
        query.processAllAvailable()
    query.stop()
    verdict = verify("q3", broker.bootstrap, TOPICS, tmp_path / "sink")
    assert verdict.exact, verdict.detail
    assert verdict.rows_in == ROWS
    assert verdict.rows_out > 0
