"""The Spark session in which state is read and rewritten: on this computer, all its cores."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rheostat.errors import BadInput
from rheostat.local.replay_session import replay_session
from rheostat.local.spark_home import find_spark_home
from rheostat.spark.sensing.capabilities.rescaling_spark import rescaling_means

WAY_OUT = "install PySpark 4.3 for this command; the query may stay on Spark 4.0 or later"


@contextmanager
def own_session(memory: str = "2g") -> Iterator[Any]:
    """Hand out a session and end it; raises BadInput where this Python has an older Spark.

    ``memory`` is the heap: a partition of the provider on HDFS has to fit into it as often as there
    are cores.
    """
    require_spark(find_spark_home().version)
    with tempfile.TemporaryDirectory(prefix="rheostat-state-") as folder:
        options = {
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": folder,
            "spark.driver.memory": memory,
        }
        with replay_session("local[*]", "rheostat state", options) as session:
            yield session


def require_spark(version: str, way_out: str = WAY_OUT) -> None:
    """Raise BadInput with a ``way_out`` for a Spark that is too old, such as ``4.2.1``."""
    if rescaling_means(version) != "own":
        raise BadInput(f"PySpark {version} cannot read state as it is kept: {way_out}")
