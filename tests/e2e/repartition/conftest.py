"""Selects the tests that the installed Spark supports, and provides their session."""

from __future__ import annotations

from collections.abc import Iterator

import pyspark
import pyspark.sql.streaming
import pytest
from pyspark.sql import SparkSession

from rheostat.local.local_session import start_session

collect_ignore = (
    []
    if hasattr(pyspark.sql.streaming, "StatefulProcessor")
    else [  # transformWithState needs Spark 4.0
        "test_operator_matrix.py",
        "test_chained_operators.py",
        "test_key_types.py",
        "test_state_variables.py",
        "test_state_settings.py",
    ]
)


@pytest.fixture(autouse=True, scope="session")
def spark_that_rescales() -> None:
    """Skip without Spark 4.3, whose interfaces to state stores ``rheostat state`` needs."""
    if pyspark.__version__ < "4.3":
        pytest.skip("rheostat state needs PySpark 4.3")


@pytest.fixture(scope="module")
def spark(driver: dict[str, str]) -> Iterator[SparkSession]:
    """A session with two slots, for one query after the other."""
    from tests.e2e.repartition.left_alone import OPTIONS

    session = start_session("local[2]", OPTIONS, "state")
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
