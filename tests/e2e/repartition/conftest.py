"""Which of these tests the installed Spark can run."""

import pyspark
import pyspark.sql.streaming
import pytest

collect_ignore = (
    []
    if hasattr(pyspark.sql.streaming, "StatefulProcessor")
    else ["test_operator_matrix.py"]  # transformWithState came with Spark 4.0
)


@pytest.fixture(autouse=True, scope="session")
def spark_that_rescales() -> None:
    """``rheostat state`` needs what Spark 4.3 shows of its stores."""
    if pyspark.__version__ < "4.3":
        pytest.skip("rheostat state needs PySpark 4.3")
