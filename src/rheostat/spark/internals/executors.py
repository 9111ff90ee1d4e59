"""The executors of the application: counts them, requests totals and removes executors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rheostat.spark.internals.block_managers import BlockManagers, oldest_first
from rheostat.spark.internals.gateway import ABSENT, Gateway
from rheostat.spark.sensing.capabilities import is_on

_REASON = "rheostat scales in"
_TOTALS = "requestedTotalExecutorsPerResourceProfile"


class Executors:
    """The executors of the application in the scheduler.

    * Calls: ``SparkContext.getExecutorIds``, ``SparkContext.requestTotalExecutors``,
      ``CoarseGrainedSchedulerBackend.decommissionExecutors``,
      ``CoarseGrainedSchedulerBackend.killExecutors``,
      ``TaskScheduler.getExecutorDecommissionState``,
      ``CoarseGrainedSchedulerBackend.getRequestedTotalExecutors``.
    * Probed by the methods' names: ``can_request``, ``can_decommission`` (which also needs
      ``spark.decommission.enabled``).
    * Without them: the session is observed, not scaled; without decommissioning, executors are
      removed while they are idle.
    * Spark 3.5 to 4.3.
    """

    def __init__(self, gateway: Gateway, block_managers: BlockManagers) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm
        self._scala_context = gateway.scala_context
        self._block_managers = block_managers
        self._backend = self._scala_context.schedulerBackend()
        of_backend = set(dir(self._backend))
        of_context = set(dir(self._scala_context))
        self.can_request = {
            "requestTotalExecutors",
            "getExecutorIds",
        } <= of_context and "killExecutors" in of_backend
        allowed = is_on(gateway.spark, "spark.decommission.enabled")
        self.can_decommission = allowed and "decommissionExecutors" in of_backend

    def ids(self) -> list[str]:
        """Return the registered executors, oldest first (``SparkContext.getExecutorIds``)."""
        # As text, because reading the ids one by one would take one call each.
        ids = str(self._scala_context.getExecutorIds().mkString(","))
        return oldest_first(filter(None, ids.split(",")))

    def registered(self) -> int:
        """Return the number of registered executors (``SparkContext.getExecutorIds``)."""
        return int(self._scala_context.getExecutorIds().size())

    def leaving(self, executors: Iterable[str]) -> set[str]:
        """Return the executors that are being decommissioned (``getExecutorDecommissionState``)."""
        try:
            state = self._scala_context.taskScheduler().getExecutorDecommissionState
            return {executor for executor in executors if state(executor).isDefined()}
        except ABSENT:
            return set()

    def requested(self) -> int | None:
        """Return the last total requested from the cluster manager over all profiles
        (``getRequestedTotalExecutors``); None if unknown. The initial request counts only under
        dynamic allocation.
        """
        try:
            if "getRequestedTotalExecutors" in dir(self._backend):
                totals = self._backend.getRequestedTotalExecutors()
            else:  # Spark before 4.3
                totals = self._gateway.field(
                    self._backend, _TOTALS, "CoarseGrainedSchedulerBackend"
                )
            # As text, because reading the counts one by one would take two calls each.
            counts = str(totals.valuesIterator().mkString(","))
        except ABSENT:
            return None
        return sum(int(count) for count in counts.split(",") if count) or None

    def hosts(self) -> dict[str, str]:
        """Return the host of every reachable executor, oldest first; hosts may be empty."""
        reachable = self._block_managers.reachable()
        # Scaling works without hosts; only placement needs them and reports it (``cannot_place``).
        return dict.fromkeys(self.ids(), "") if reachable is None else reachable

    def request_total(self, executors: int) -> bool:
        """Request a total, which removes no executor (``SparkContext.requestTotalExecutors``)."""
        # No preferred hosts: state is sent to the executors wherever they have started.
        nothing = self._gateway.empty_map
        return bool(self._scala_context.requestTotalExecutors(executors, 0, nothing))

    def decommission(self, executors: Sequence[str]) -> None:
        """Make executors finish their tasks and end (``decommissionExecutors``)."""
        information = self._jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo(
            _REASON, self._jvm.scala.Option.empty()
        )
        pair = self._jvm.scala.Tuple2
        pairs = self._gateway.array(pair, [pair(executor, information) for executor in executors])
        # The target was requested before, and the executors did not request this themselves.
        self._backend.decommissionExecutors(pairs, False, False)

    def kill_idle(self, executors: Sequence[str]) -> None:
        """Kill those executors that run no task now (``killExecutors``, not forced)."""
        # Neither the target nor the failure count changes; without force, busy executors stay.
        self._backend.killExecutors(self._gateway.sequence(executors), False, False, False)

    def kill(self, executors: Sequence[str]) -> None:
        """Kill executors by force; their tasks run again elsewhere (``killExecutors``)."""
        self._backend.killExecutors(self._gateway.sequence(executors), False, False, True)
