"""Keys of every type that Spark groups by: each row is placed by its own hash."""

from __future__ import annotations

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from tests.e2e.repartition.left_alone import check, configure
from tests.e2e.repartition.stateful_cases import Case, run, write_file

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

NUMBERS = "element_at(array('nan', '-0.0', '0.0', '1.5'), cast(number % 4 + 1 as int))"
KEYS = {
    "wide decimal": "cast(number % 40 as decimal(38, 18)) * 1.000000001",
    "binary": "cast(concat(key, char(0), side) as binary)",
    "struct": "named_struct('a', key, 'b', named_struct('c', number % 3, 'd', at))",
    "array": "array(key, if(number % 3 = 0, null, side))",
    "map": "map(key, number % 3, side, 1)",
    "null": "if(number % 4 = 0, null, key)",
    "float": f"cast({NUMBERS} as float)",
    "double": f"cast({NUMBERS} as double)",
    "date": "cast(at as date) + cast(number % 40 as int)",
    "time without zone": "cast(at as timestamp_ntz)",
    "interval": "make_dt_interval(0, 0, cast(number % 40 as int), 0.000001)",
    "boolean": "number % 2 = 0",
    "byte": "cast(number % 100 - 50 as tinyint)",
    "long text": "repeat(concat(key, 'ü'), 5000)",
    "empty": "if(number % 2 = 0, '', key)",
}


def counted(key: str) -> Case:
    """Return a count by a key of the type and a second key."""

    def query(rows: DataFrame) -> DataFrame:
        keyed = rows.selectExpr(f"{key} as typed", "number % 5 as rest")
        return keyed.groupBy("typed", "rest").count()

    return Case(query, "update")


def deduplicated(key: str) -> Case:
    """Return a deduplication, which hashes keys unchanged."""
    return Case(lambda rows: rows.selectExpr(f"{key} as typed").dropDuplicates(["typed"]))


@pytest.mark.parametrize("key", KEYS)
def test_counts_by_every_key_type_survive_a_repartition(spark, tmp_path, key):
    check(spark, tmp_path, counted(KEYS[key]), "changelog", (4, 7))


@pytest.mark.parametrize("key", ["null", "float", "double", "struct", "wide decimal"])
def test_deduplication_by_key_types_survives_a_repartition(spark, tmp_path, key):
    check(spark, tmp_path, deduplicated(KEYS[key]), "hdfs", (8, 3))


def test_spark_rejects_state_keyed_by_a_collation(spark, tmp_path):
    configure(spark, 4, {})
    write_file(tmp_path / "files", 0)
    collated = counted("key collate UTF8_LCASE")
    with pytest.raises(StreamingQueryException, match="inequality"):
        run(spark, collated, tmp_path / "files", tmp_path / "checkpoint")
