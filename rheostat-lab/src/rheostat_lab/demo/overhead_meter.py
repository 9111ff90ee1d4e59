"""Measures the autoscaler's own cost in CPU seconds, by thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rheostat.spark.handle import Handle
from rheostat.spark.internals.gateway import ABSENT, Gateway
from rheostat_lab.report.finished_run import Overhead

_TASKS = Path("/proc/self/task")


class OverheadMeter:
    """Counts CPU seconds by part from its creation on; each thread of the autoscaler calls ``tick``
    with its own name at the end of its work (``follow``).

    Parts: the names (``loop``, ``rescale controller``), ``bridge`` (the JVM threads that serve
    their py4j calls), ``rest`` (the threads of the driver's UI, which serve our polls; other
    requests to that UI count as well), ``broker`` (librdkafka's threads in this process). The last
    two need Linux's /proc and are absent elsewhere. ``jvm_cpu_s`` returns the CPU seconds of the
    JVM thread that serves the calling one, ``jvm_process`` is the id of that JVM.
    """

    def __init__(
        self,
        jvm_cpu_s: Callable[[], float | None] | None = None,
        jvm_process: int | None = None,
    ) -> None:
        self._jvm_cpu_s = jvm_cpu_s
        self._jvm_process = jvm_process
        self._threads = self._thread_parts()
        self._ours_s: dict[str, float] = {"loop": 0.0}
        self._bridges: dict[str, tuple[float, float]] = {}
        self._started_s = time.monotonic()

    @classmethod
    def of_driver(cls, spark: Any) -> OverheadMeter:
        """Return the meter of an autoscaler of this session; create it before ``attach``."""
        java = Gateway(spark).jvm.java.lang
        threads = java.management.ManagementFactory.getThreadMXBean()

        def cpu_s() -> float | None:
            try:
                return float(threads.getCurrentThreadCpuTime()) / 1e9
            except ABSENT:  # the JVM has ended
                return None

        return cls(cpu_s, int(java.ProcessHandle.current().pid()))

    def follow(self, handle: Handle) -> None:
        """Count the threads of this autoscaler; one that only observes makes no py4j calls."""
        if not handle.capabilities.can_scale:
            self._jvm_cpu_s = None
        handle.watch(lambda _: self.tick())
        handle.watch_polls(lambda: self.tick("rescale controller"))

    def overhead(self) -> Overhead:
        """Return what the autoscaler has used until now."""
        return Overhead(self.parts_s(), time.monotonic() - self._started_s)

    def tick(self, part: str = "loop") -> None:
        """Take the CPU time of the calling thread and of its partner in the JVM."""
        self._ours_s[part] = time.thread_time()
        spent_s = self._jvm_cpu_s() if self._jvm_cpu_s else None
        if spent_s is not None:
            self._bridges[part] = (self._bridges.get(part, (spent_s, spent_s))[0], spent_s)

    def parts_s(self) -> Mapping[str, float]:
        """Return the CPU seconds since the start, by part."""
        parts = dict(self._ours_s)
        if self._bridges:
            parts["bridge"] = sum(last - first for first, last in self._bridges.values())
        now = self._thread_parts()
        return parts | {
            part: max(0.0, spent - self._threads.get(part, 0.0)) for part, spent in now.items()
        }

    def _thread_parts(self) -> dict[str, float]:
        parts: dict[str, float] = {}
        if self._jvm_process is not None and _TASKS.exists():
            parts["rest"] = _cpu_s(Path(f"/proc/{self._jvm_process}/task"), "SparkUI")
        if _TASKS.exists():
            parts["broker"] = _cpu_s(_TASKS, "rdk:")
        return parts


def _cpu_s(tasks: Path, prefix: str) -> float:
    """Return the CPU seconds of the threads whose name begins with ``prefix``."""
    total_s = 0.0
    for thread in tasks.iterdir() if tasks.exists() else ():
        try:
            if (thread / "comm").read_text().startswith(prefix):
                total_s += int((thread / "schedstat").read_text().split()[0]) / 1e9
        except (OSError, ValueError, IndexError):
            continue  # the thread has ended in the meantime
    return total_s
