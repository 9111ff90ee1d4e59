from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.internals import plans
from rheostat.spark.internals.state_loads import LOADS, StateLoads, Stores

STORES = Stores(
    names=("default",),
    described=(("key", "value", "encoder"),),
    schemas="schemas",
    families=False,
    multiple=True,
    settings="settings",
)


class Spark:
    """Records what executors are requested to open; its stores stay open, or not, after a read."""

    def __init__(self, leaves_open: bool = True) -> None:
        self.leaves_open = leaves_open
        self.jobs: list[str] = []
        self.opened: list[tuple[Any, Any]] = []
        self.sent: list[str] = []

    def gateway(self) -> Any:
        release = SimpleNamespace(getName=lambda: "release")
        kind = SimpleNamespace(getMethods=lambda: [release] if self.leaves_open else [])
        anything: Any = SimpleNamespace(
            KeyStateEncoderSpec="", StructType="", SerializableConfiguration=lambda conf: conf
        )
        streaming = SimpleNamespace(state=anything)
        sql = SimpleNamespace(execution=SimpleNamespace(streaming=streaming), types=anything)
        spark = SimpleNamespace(sql=sql, util=anything)
        return SimpleNamespace(
            jvm=SimpleNamespace(
                org=SimpleNamespace(apache=SimpleNamespace(spark=spark)),
                java=SimpleNamespace(lang=SimpleNamespace(String=str, Object=object)),
            ),
            class_named=lambda name: kind,
            array=lambda kind, items: list(items),
            field=lambda of, name, above: {0: "checkpoint id"},
        )

    def call(self, group: str, job: str) -> None:
        self.jobs.append(job)

    def rows_at(self, rows: Iterable[Any], class_name: str) -> Any:
        def opened_by(opener: Any) -> Any:
            return SimpleNamespace(count=lambda: self.opened.append((list(rows), opener)))

        return SimpleNamespace(mapPartitions=opened_by)

    def on_executors(self, name: str) -> Any:
        self.sent.append(name)
        return SimpleNamespace(newInstance=tuple)


class Coordinator:
    """A coordinator that knows the executors of even partitions."""

    def store(self, folder: str, run_id: str, operator: int, partition: int, name: str) -> Any:
        assert (folder, run_id, operator, name) == ("state", "run", 0, "default")
        return partition

    def place(self, store: int) -> str | None:
        return None if store % 2 else f"executor_a_{store}"


def operator(name: str = "StateStoreRestore") -> Any:
    info = SimpleNamespace(
        checkpointLocation=lambda: "state", queryRunId=lambda: "run", operatorId=lambda: 0
    )
    hadoop = SimpleNamespace(newHadoopConf=lambda: "hadoop")
    return SimpleNamespace(
        nodeName=lambda: name,
        getStateInfo=lambda: info,
        session=lambda: SimpleNamespace(sessionState=lambda: hadoop),
    )


def query() -> Any:
    execution = SimpleNamespace(currentBatchId=lambda: 7)
    java = SimpleNamespace(streamingQuery=lambda: SimpleNamespace(lastExecution=lambda: execution))
    return SimpleNamespace(_jsq=java)


@pytest.fixture
def make_loads(monkeypatch: pytest.MonkeyPatch) -> Callable[..., StateLoads]:
    def make(spark: Spark, *operators: Any, stores: Stores | None = STORES) -> StateLoads:
        monkeypatch.setattr(plans, "last_plan", lambda query: "plan")
        monkeypatch.setattr(plans, "named", lambda plan, names: list(operators))
        fake: Any = spark
        coordinator: Any = Coordinator()
        described: Any = SimpleNamespace(of=lambda operator: stores)
        return StateLoads(spark.gateway(), fake, coordinator, fake, described)

    return make


def test_every_partition_is_opened_on_its_executor_as_the_next_batch_will(
    make_loads: Callable[..., StateLoads],
) -> None:
    spark = Spark()
    assert make_loads(spark, operator()).preload(query(), [3, 4], "a group")
    ((rows, opener),) = spark.opened
    assert rows == [(3, []), (4, ["executor_a_4"])]
    assert opener == (
        *("state", "run", 0, 8, "checkpoint id"),
        *(["default"], ["key"], ["value"], ["encoder"]),
        *("schemas", False, True, "settings", "hadoop"),
    )
    assert spark.jobs == [LOADS]


def test_the_opener_class_is_sent_to_executors_once(make_loads: Callable[..., StateLoads]) -> None:
    spark = Spark()
    loads = make_loads(spark, operator(), operator())
    loads.preload(query(), [1], "a group")
    loads.preload(query(), [1], "a group")
    assert (spark.sent, len(spark.opened)) == (["OpenStores"], 4)


def test_nothing_is_preloaded_if_spark_closes_stores_after_reading(
    make_loads: Callable[..., StateLoads],
) -> None:
    spark = Spark(leaves_open=False)
    assert not make_loads(spark, operator()).preload(query(), [1], "a group")
    assert (spark.jobs, spark.opened, spark.sent) == ([], [], [])


def test_operators_with_unknown_stores_are_left_to_the_batch(
    make_loads: Callable[..., StateLoads],
) -> None:
    spark = Spark()
    assert not make_loads(spark, operator(), stores=None).preload(query(), [1], "a group")
    assert (spark.jobs, spark.opened) == ([], [])
