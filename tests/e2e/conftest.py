"""What the end-to-end tests share: a driver's JVM of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark import SparkContext


@pytest.fixture(scope="module")
def own_jvm() -> Iterator[None]:
    """Ends the JVM behind a module's session, too: another module's may need other options of its JVM."""
    yield
    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    if gateway is not None:  # the session never came: its own fault is the one to see
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=30)
