"""Which of these tests the installed Spark can run, and their session."""

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
    else [  # transformWithState came with Spark 4.0
        "test_operator_matrix.py",
        "test_chained_operators.py",
        "test_key_types.py",
        "test_state_variables.py",
        "test_state_settings.py",
    ]
)


@pytest.fixture(autouse=True, scope="session")
def spark_that_rescales() -> None:
    """``rheostat state`` needs what Spark 4.3 shows of its stores."""
    if pyspark.__version__ < "4.3":
        pytest.skip("rheostat state needs PySpark 4.3")


@pytest.fixture(scope="module")
def spark(driver: dict[str, str]) -> Iterator[SparkSession]:
    """Two slots, for queries one after the other."""
    from tests.e2e.repartition.left_alone import OPTIONS

    session = start_session("local[2]", OPTIONS, "state")
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
