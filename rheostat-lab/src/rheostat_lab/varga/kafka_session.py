"""A local Spark session with Kafka's source and sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rheostat.kafka.jars import source_jars
from rheostat.local.local_session import replay_session


@contextmanager
def kafka_session(slots: int, folder: Path, options: Mapping[str, str]) -> Iterator[Any]:
    """Yield a session with this number of slots, whose scratch files are in ``folder``."""
    own = {
        "spark.driver.memory": "1g",
        "spark.local.dir": str(folder),
        "spark.jars": ",".join(map(str, source_jars().paths)),
    }
    with replay_session(f"local[{slots}]", "rheostat lab", {**own, **options}) as spark:
        yield spark
