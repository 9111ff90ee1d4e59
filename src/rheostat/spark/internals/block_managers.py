"""The driver's block managers: reachable executors, and those that a Kafka source prefers."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import ABSENT, Gateway

_BLOCK_MANAGER = re.compile(r"BlockManagerId\(([^,]+), ([^,]+), \d+")
_DRIVER = "driver"


def oldest_first(executors: Iterable[str]) -> list[str]:
    """Return executors sorted by number, oldest first, because Spark counts up."""
    return sorted(executors, key=lambda executor: (len(executor), executor))


class BlockManagers:
    """The executors in the driver's ``BlockManagerMaster``.

    * Calls: ``BlockManagerMaster.getMemoryStatus``, ``BlockManagerMaster.getPeers``,
      ``BlockManagerMaster.decommissionBlockManagers``, ``SparkContext.addSparkListener`` with the
      compiled listener ``HideNewcomers``.
    * Without them: hosts are unknown and nothing is hidden; a batch may then wait
      ``spark.locality.wait`` for an executor that is starting or leaving.
    * Spark 3.5.7 and 4.3.0 tried; probed by the calls themselves.
    """

    def __init__(self, gateway: Gateway, classes: CompiledClasses) -> None:
        self._gateway = gateway
        self._classes = classes

    def reachable(self) -> dict[str, str] | None:
        """Return every reachable executor's host, oldest first (``getMemoryStatus``), or None.

        Executors disappear when their connection breaks, 5 s before the scheduler drops them.
        """
        try:
            # As text in one call: walking the Scala map would cost several calls for each executor.
            return hosts_in(self._master.getMemoryStatus().toString())
        except ABSENT:
            return None

    def preferred(self) -> list[str]:
        """Return the executors that a Kafka source may prefer (``BlockManagerMaster.getPeers``)."""
        try:
            return list(hosts_in(self._master.getPeers(self._driver).toString()))
        except ABSENT:
            return []

    def hide(self, executors: Sequence[str]) -> bool:
        """Hide executors from the Kafka source (``decommissionBlockManagers``); False if
        impossible.

        A batch planned while a visible one leaves waits ``spark.locality.wait`` for it.
        """
        try:
            self._master.decommissionBlockManagers(self._gateway.sequence(executors))
        except ABSENT:
            return False
        return True

    def hide_newcomers(self, hides: bool) -> bool:
        """Hide executors as they register (``addSparkListener``); False if impossible."""
        context = self._gateway.scala_context
        try:
            change = context.addSparkListener if hides else context.removeSparkListener
            change(self._listener)
        except ABSENT:
            return False
        return True

    @functools.cached_property
    def _master(self) -> Any:
        return self._of_driver.master()

    @functools.cached_property
    def _driver(self) -> Any:
        return self._of_driver.blockManagerId()

    @functools.cached_property
    def _listener(self) -> Any:
        """Return the listener that hides executors as they register; it runs in the driver."""
        return self._classes.in_driver("HideNewcomers", self._master)

    @functools.cached_property
    def _of_driver(self) -> Any:
        """Return the driver's BlockManager (``SparkEnv.get``) by method handles.

        Plain reflection fails: Spark 4.3's SparkEnv has a method of a class on no class path.
        """
        invoke = self._gateway.jvm.java.lang.invoke
        lookup, returning = invoke.MethodHandles.publicLookup(), invoke.MethodType.methodType
        kind = self._gateway.class_named("org.apache.spark.SparkEnv")
        manager = self._gateway.class_named("org.apache.spark.storage.BlockManager")
        get = lookup.findStatic(kind, "get", returning(kind))
        block_manager = lookup.findVirtual(kind, "blockManager", returning(manager))
        environment = get.invokeWithArguments(self._gateway.listed(()))
        return block_manager.invokeWithArguments(self._gateway.listed((environment,)))


def hosts_in(text: str) -> dict[str, str]:
    """Return executors and hosts, oldest first, from texts of Spark's ``BlockManagerId``."""
    hosts = dict(_BLOCK_MANAGER.findall(text))
    return {executor: hosts[executor] for executor in oldest_first(hosts.keys() - {_DRIVER})}
