"""The driver's JVM as a process: its id, and the CPU that Rheostat's calls cost there."""

from __future__ import annotations

import functools
from typing import Any

from py4j.protocol import Py4JError

from rheostat.spark.internals.gateway import Gateway


class DriverCpu:
    """The driver's JVM as a process.

    * Calls: ``ThreadMXBean.getCurrentThreadCpuTime``, ``ProcessHandle.current``.
    * Without them: the figure is absent.
    * Any JVM; Java 9 and later.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._jvm = gateway.jvm

    def thread_cpu_s(self) -> float | None:
        """Return the CPU seconds of the JVM thread of this Python thread (``ThreadMXBean``)."""
        try:
            return float(self._threads.getCurrentThreadCpuTime()) / 1e9
        except Py4JError:
            return None

    def process_id(self) -> int:
        """Return the process id of the JVM."""
        return int(self._jvm.java.lang.ProcessHandle.current().pid())

    @functools.cached_property
    def _threads(self) -> Any:
        return self._jvm.java.lang.management.ManagementFactory.getThreadMXBean()
