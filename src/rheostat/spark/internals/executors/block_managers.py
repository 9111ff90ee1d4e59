"""The block managers that the driver knows: which executors can be reached, and which of them a
Kafka source prefers.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.executors.executor_ids import oldest_first
from rheostat.spark.internals.gateway import ABSENT, Gateway

_BLOCK_MANAGER = re.compile(r"BlockManagerId\(([^,]+), ([^,]+), \d+")
_DRIVER = "driver"


class BlockManagers:
    """The executors as ``BlockManagerMaster`` has them.

    * Calls: ``BlockManagerMaster.getMemoryStatus``, ``BlockManagerMaster.getPeers``,
      ``BlockManagerMaster.decommissionBlockManagers``, ``SparkContext.addSparkListener`` with the
      compiled listener ``HideNewcomers``.
    * Without them: hosts are not known and nothing is hidden; a batch may then wait
      ``spark.locality.wait`` for an executor that comes or goes.
    * Spark 3.5.7 and 4.3.0 tried; told by the calls themselves.
    """

    def __init__(self, gateway: Gateway, classes: CompiledClasses) -> None:
        self._gateway = gateway
        self._classes = classes

    def reachable(self) -> dict[str, str] | None:
        """Return the host of every executor that can be reached, oldest first
        (``BlockManagerMaster.getMemoryStatus``); None where this Spark has no such call.

        An executor is here once it can take blocks, and no longer from the moment its connection
        breaks; the scheduler keeps it for the five seconds of
        ``spark.standalone.executorRemoveDelayOnDisconnection``.
        """
        try:
            # As text in one call: walking the Scala map would cost several calls for each executor.
            return hosts_in(self._master.getMemoryStatus().toString())
        except ABSENT:
            return None

    def preferred(self) -> list[str]:
        """Return the executors that the Kafka source may prefer: those that are not hidden
        (``BlockManagerMaster.getPeers``); none where that cannot be told.
        """
        try:
            return list(hosts_in(self._master.getPeers(self._driver).toString()))
        except ABSENT:
            return []

    def hide(self, executors: Sequence[str]) -> bool:
        """Take executors out of the block managers that the Kafka source prefers
        (``BlockManagerMaster.decommissionBlockManagers``).

        Without it a batch that is planned while an executor leaves waits ``spark.locality.wait``
        for it. False where this Spark has no such call: that batch is then late, nothing else.
        """
        try:
            self._master.decommissionBlockManagers(self._gateway.sequence(executors))
        except ABSENT:
            return False
        return True

    def hide_newcomers(self, hides: bool) -> bool:
        """Hide each executor in the moment in which its block manager registers
        (``SparkContext.addSparkListener``), or no longer.

        False where this Spark has no such calls: a batch that is planned right then may wait
        ``spark.locality.wait`` for it.
        """
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
        """Return the listener that hides executors as they come; it runs in the driver."""
        return self._classes.in_driver("HideNewcomers", self._master)

    @functools.cached_property
    def _of_driver(self) -> Any:
        """Return the driver's BlockManager (``SparkEnv.get``), by method handles.

        Plain reflection looks at all methods, and Spark 4.3's SparkEnv has one with a class that is
        on no class path.
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
    """Return executors and their hosts, oldest first, from the text of Spark's ``BlockManagerId(id,
    host, port, topology)``.
    """
    hosts = dict(_BLOCK_MANAGER.findall(text))
    return {executor: hosts[executor] for executor in oldest_first(hosts.keys() - {_DRIVER})}
