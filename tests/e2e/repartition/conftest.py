"""Which of these tests the installed Spark can run."""

import pyspark.sql.streaming

collect_ignore = (
    []
    if hasattr(pyspark.sql.streaming, "StatefulProcessor")
    else ["test_operator_matrix.py"]  # transformWithState came with Spark 4.0
)
