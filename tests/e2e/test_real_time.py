"""A real query in real-time mode is recognised, and its slots are counted before and while it
runs.
"""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pyspark
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession
from tests.e2e.drivers_elsewhere import until

from rheostat.diagnosis.examination import examine as doctor
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.sensing.sensor import SparkSensor
from rheostat_lab.services.broker import Broker

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.thorough,
    pytest.mark.skipif(
        tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 3),
        reason="real-time mode with a shuffle needs Spark 4.3",
    ),
]
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def test_a_real_time_query_holds_a_slot_for_every_task(
    local_spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    topics = [f"real-time-{way}-{uuid.uuid4().hex[:6]}" for way in ("in", "out")]
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for made in admin.create_topics([NewTopic(name, 1, 1) for name in topics]).values():
        made.result()
    at = {"kafka.bootstrap.servers": broker.bootstrap}
    local_spark.conf.set("spark.sql.shuffle.partitions", "1")
    local_spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    local_spark.conf.set("spark.sql.adaptive.enabled", "false")
    rows = local_spark.readStream.format("kafka").options(**at).option("subscribe", topics[0])
    distinct = rows.load().selectExpr("cast(value as string) as value").dropDuplicates(["value"])
    (planned,) = [f for f in doctor(local_spark, distinct) if f.topic == "slots of real-time mode"]
    assert planned.line.startswith("a query needs 2 slots before it starts: 1 source partition (")
    query = (
        distinct.writeStream.format("kafka")
        .options(**at, topic=topics[1], checkpointLocation=str(tmp_path))
        .outputMode("update")
        .trigger(realTime="10 seconds")
        .start()
    )
    read = internals_of(local_spark).queries.real_time_s
    sensor = SparkSensor(local_spark, None, None, real_time_s=read)
    sensor._tasks = local_spark.sparkContext.statusTracker()
    slots: set[int | None] = set()

    def both_stages_run() -> bool:
        (view,) = sensor.observe(time.time())
        assert (view.real_time_s, view.in_flight, view.batch_s) == (10.0, None, None)
        slots.add(view.real_time_slots)
        return 2 in slots or not query.isActive

    try:
        until("a real-time batch", both_stages_run)
        assert query.exception() is None
        # One source partition and one shuffle partition run at the same time.
        assert slots <= {None, 1, 2}
    finally:
        query.stop()
