from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.internals.state_loads import OperatorStores
from rheostat.spark.sensing.state_stores import JOIN_STORES


class Rows:
    """An RDD of a class with private fields, which may depend on others."""

    def __init__(self, kind: str, *above: Rows, **fields: Any) -> None:
        self.kind, self.above, self.fields = kind, above, fields

    def getClass(self) -> Any:  # noqa: N802 - Java's name
        return SimpleNamespace(
            getSimpleName=lambda: self.kind,
            getDeclaredField=lambda name: SimpleNamespace(
                setAccessible=bool, get=lambda of: of.fields[name]
            ),
        )

    def dependencies(self) -> Any:
        first = SimpleNamespace(rdd=lambda: self.above[0])
        return SimpleNamespace(size=lambda: len(self.above), head=lambda: first)

    def storeConf(self) -> str:  # noqa: N802 - Spark's name
        return "settings"


def store_rows(kind: str, **others: Any) -> Rows:
    own = {
        "keySchema": "key",
        "valueSchema": "value",
        "keyStateEncoderSpec": "encoder",
        "stateSchemaBroadcast": None,
        "useColumnFamilies": False,
    }
    return Rows(kind, **own | others)


def operator(rows: Rows) -> Any:
    return SimpleNamespace(nodeName=lambda: "StateStoreRestore", execute=lambda: rows)


@pytest.fixture
def stores(gateway: Callable[..., Any]) -> OperatorStores:
    return OperatorStores(gateway())


def test_the_only_store_of_an_operator_is_described_by_its_rdd(
    stores: OperatorStores,
) -> None:
    described = stores.of(operator(Rows("MapPartitionsRDD", store_rows("ReadStateStoreRDD"))))
    assert described is not None
    assert (described.names, described.described) == (("default",), (("key", "value", "encoder"),))
    assert (described.families, described.multiple, described.settings) == (
        False,
        False,
        "settings",
    )


def test_only_a_writing_rdd_can_have_many_values_per_key(stores: OperatorStores) -> None:
    writes = store_rows("StateStoreRDD", useMultipleValuesPerKey=True)
    described = stores.of(operator(writes))
    assert described is not None
    assert described.multiple


@pytest.mark.parametrize("above", [(), (Rows("A"), Rows("B"))])
def test_an_operator_without_recognizable_stores_is_unknown(
    stores: OperatorStores, above: tuple[Rows, ...]
) -> None:
    assert stores.of(operator(Rows("ZippedPartitionsRDD2", *above))) is None


def join(version: int) -> Any:
    side = SimpleNamespace(output=lambda: "columns")
    conf = SimpleNamespace(conf=lambda: "conf")
    return SimpleNamespace(
        nodeName=lambda: "StreamingSymmetricHashJoin",
        stateFormatVersion=lambda: version,
        left=lambda: side,
        right=lambda: side,
        leftKeys=lambda: "left keys",
        rightKeys=lambda: "right keys",
        session=lambda: SimpleNamespace(sessionState=lambda: conf),
    )


@pytest.fixture
def of_joins(stores: OperatorStores, monkeypatch: pytest.MonkeyPatch) -> OperatorStores:
    """The stores of joins in a Spark that names the schemas after the stores."""

    def schemas(side: str, columns: str, keys: str, version: int) -> Any:
        assert keys.split()[0] in side.lower()
        return SimpleNamespace(
            apply=lambda name: SimpleNamespace(_1=lambda: f"{name} k", _2=lambda: f"{name} v")
        )

    manager = SimpleNamespace(getSchemaForStateStores=schemas)
    monkeypatch.setattr(
        stores._gateway, "single", lambda name: manager if "Manager" in name else name
    )
    state = SimpleNamespace(
        NoPrefixKeyStateEncoderSpec=lambda key: ("encoder", key),
        StateStoreConf=lambda conf, extra: (conf, extra),
    )
    streaming = SimpleNamespace(streaming=SimpleNamespace(state=state))
    spark = SimpleNamespace(sql=SimpleNamespace(execution=streaming))
    stores._jvm.org = SimpleNamespace(apache=SimpleNamespace(spark=spark))
    return stores


def test_a_join_has_four_stores_with_separate_schemas(of_joins: OperatorStores) -> None:
    described = of_joins.of(join(2))
    assert described is not None
    assert described.names == JOIN_STORES
    first = JOIN_STORES[0]
    assert described.described[0] == (f"{first} k", f"{first} v", ("encoder", f"{first} k"))
    assert (described.families, described.settings) == (False, ("conf", {}))


def test_a_join_of_format_3_has_one_store(of_joins: OperatorStores) -> None:
    described = of_joins.of(join(3))
    assert described is not None
    assert (described.names, len(described.described), described.families) == (
        ("default",),
        1,
        True,
    )


def test_a_join_of_a_future_format_is_unknown(of_joins: OperatorStores) -> None:
    assert of_joins.of(join(4)) is None
