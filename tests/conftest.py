"""Configuration of all tests: property tests draw the same examples each time (new ones in `make
thorough`), each test restores the logger, and only tests without Spark or Kafka run in parallel.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Assign each file to one process, and all tests with real components to the same process: they
    need the machine for themselves.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc] # it has no types
        def _split_scope(self, nodeid: str) -> str:
            return "e2e" if nodeid.startswith("tests/e2e/") else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Repeat a failed test with real parts once; the summary lists it.

    Two cores that also run Spark, Kafka and a browser are not always in time.
    """
    if not config.pluginmanager.hasplugin("rerunfailures"):
        return
    for item in items:
        if item.get_closest_marker("e2e"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(autouse=True)
def restored_logger() -> Iterator[None]:
    """Restore the logger, to which the command line adds a handler."""
    rheostat = logging.getLogger("rheostat")
    kept = list(rheostat.handlers), rheostat.level, rheostat.propagate
    yield
    rheostat.handlers, rheostat.propagate = kept[0], kept[2]
    rheostat.setLevel(kept[1])


@pytest.fixture(autouse=True)
def no_jvm_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test without Spark that starts a JVM in this process: every later SparkConf of the
    process would contain that JVM's settings.
    """
    before = _jvm()
    yield
    if not request.node.get_closest_marker("e2e"):
        assert _jvm() is before, "the test left a JVM in the process of the tests"


def _jvm() -> Any:
    context = sys.modules.get("pyspark.core.context")
    return None if context is None else context.SparkContext._jvm
