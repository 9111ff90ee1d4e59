from __future__ import annotations

import pytest

from rheostat.model import Finding
from rheostat.spark.sensing.query_shape import (
    ROCKSDB,
    Query,
    checkpoint_files_class,
    shape,
)

GOOD = {
    "spark.sql.shuffle.partitions": "24",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.checkpointFileManagerClass": checkpoint_files_class("4.3.0"),
}


def about(
    topic: str, query: Query | None = None, checkpoint: str | None = None, **changes: str
) -> Finding | None:
    settings = {**GOOD, **{name.replace("__", "."): value for name, value in changes.items()}}
    results = shape(settings, query, spark_version="4.3.0", checkpoint=checkpoint)
    return next((result for result in results if result.topic.startswith(topic)), None)


def test_the_recommended_configuration_produces_no_advice():
    query = Query(name="orders", state_partitions=24, slots=8, trigger_s=5.0, reads_all=False)
    assert {result.state for result in shape(GOOD, query, spark_version="4.3.0")} == {"good"}


def test_applying_every_recommended_setting_satisfies_all_checks():
    results = shape({}, spark_version="4.3.0")
    advised = dict(result.setting.split("=", 1) for result in results if result.setting)
    second = shape(advised, spark_version="4.3.0")
    assert [result.topic for result in second if result.state == "advice"] == [
        "state store"
    ]  # the changelog is recommended once the provider is RocksDB
    advised |= dict(result.setting.split("=", 1) for result in second if result.setting)
    assert {result.state for result in shape(advised, spark_version="4.3.0")} == {"good"}


def test_two_hundred_state_partitions_are_reported_with_their_cost():
    advice = about("state partitions of orders", Query(name="orders", state_partitions=200))
    assert advice
    assert advice.state == "advice"
    assert "200 cost 2.8 to 9.0 s of slot time in every batch" in advice.line


def test_surplus_slots_are_reported_with_the_sufficient_number_of_partitions():
    advice = about(
        "state partitions of orders", Query(name="orders", state_partitions=24, slots=32)
    )
    assert advice
    assert advice.line.startswith("24 cannot use 32 slots: 32 or more partitions would")
    assert "rheostat state repartition CHECKPOINT --partitions 48 changes it" in advice.line


def test_the_way_to_change_partitions_depends_on_the_spark_version():
    query = Query(name="orders", state_partitions=200)
    older, oldest = (
        next(
            result.line
            for result in shape(GOOD, query, spark_version=spark, checkpoint="/c")
            if result.topic == "state partitions of orders"
        )
        for spark in ("4.0.0", "3.5.7")
    )
    assert "repartition /c --partitions 24 of a Python with PySpark 4.3 changes it" in older
    assert "a first start, without a checkpoint, with spark.sql.shuffle.partitions=24" in oldest


@pytest.mark.parametrize(
    ("checkpoint", "is_recommended"),
    [("/data/c", True), ("file:/data/c", True), (None, True), ("s3a://bucket/c", False)],
)
def test_the_file_manager_is_recommended_only_for_local_disks(checkpoint, is_recommended):
    assert (
        bool(
            about(
                "checkpoint files",
                checkpoint=checkpoint,
                spark__sql__streaming__checkpointFileManagerClass="other",
            )
        )
        is is_recommended
    )


def test_continuous_and_unbounded_batches_produce_advice():
    query = Query(name="q", state_partitions=24, trigger_s=0.0, reads_all=True)
    assert [result.state for result in shape(GOOD, query, spark_version="4.3.0")][-2:] == [
        "advice",
        "advice",
    ]


def test_unknown_properties_of_a_query_produce_no_advice():
    assert shape(GOOD, Query(), spark_version="4.3.0") == shape(GOOD, spark_version="4.3.0")


@pytest.mark.parametrize(
    ("version", "package"),
    [
        ("3.5.7", "streaming"),
        ("4.0.0", "streaming"),
        ("4.1.0", "streaming.checkpointing"),
        ("4.3.0", "streaming.checkpointing"),
        ("5.0.0.dev1", "streaming.checkpointing"),
    ],
)
def test_the_checkpoint_file_managers_package_changed_in_spark_4_1(version, package):
    assert (
        checkpoint_files_class(version)
        == f"org.apache.spark.sql.execution.{package}.FileSystemBasedCheckpointFileManager"
    )
