"""The actuator of a live application: passes the size in force and the executors to replace to the
rescale controller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rheostat.actions import ReplaceExecutor
from rheostat.clusters.scaling_settings import FAILURES
from rheostat.model import Capabilities, Decision, Memory, Rescaling
from rheostat.ports import Actuator
from rheostat.protocols.orders import tolerated_failures
from rheostat.protocols.size_in_force import SizeInForce
from rheostat.settings import Settings
from rheostat.spark.internals.executors import Executors
from rheostat.spark.internals.internals import Internals
from rheostat.spark.resizing.conflict_detector import SharedCluster
from rheostat.spark.resizing.locality import LocalityWait, TaskHold
from rheostat.spark.resizing.placement_soaks import Verdict
from rheostat.spark.resizing.platform import Platform
from rheostat.spark.resizing.rescale_controller import RescaleConfig, RescaleController
from rheostat.spark.resizing.state_placement import Placement
from rheostat.spark.running_queries import Rhythms, RunningQueries
from rheostat.spark.sensing.capabilities import (
    initial_executors,
    is_on,
    locality_wait_s,
    slots_per_executor,
)
from rheostat.spark.sensing.rest import ExecutorsEndpoint
from rheostat.spark.warming.preload import Preload
from rheostat.spark.warming.warm_start import of_session
from rheostat.spark.warming.warmup import Warmup

STATE_WAIT_S = 3.0
"""Spark's default wait for a preferred executor, in seconds.

With a shorter wait tasks move state by themselves, and no assignment lasts.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingCapabilities:
    """What may be done to the size of an application, and what may not, one line each."""

    placement: Verdict
    standby: int
    cannot: tuple[str, ...]


class LiveSize(SizeInForce):
    """The size in force of a live application; ``configured`` is the number of executors that its
    settings request at the start; None means all that the cluster has.
    """

    def __init__(self, executors: Executors, configured: int | None, standby: int = 0) -> None:
        super().__init__(standby)
        self._executors = executors
        self._configured = configured

    def requested(self) -> int | None:
        """Return the total last requested from the cluster manager; None if it is unknown."""
        return self._executors.requested() or self._configured

    def now(self, now: float) -> tuple[int | None, int | None]:
        """Return the number of working executors and the size in force."""
        # The request may change until the first decision, and matters only until then.
        requested = self.requested() if self.decided is None else None
        return self.update(self._executors.registered(), requested, now)


@dataclass(eq=False)
class SparkActuator(Actuator):
    """Brings an application to its target size; ``replace executor N`` replaces that executor.

    ``changes_of_others`` describes what Rheostat did not request. ``notes`` are stored in the
    memory, among them the application's id: the memory of another application is not resumed.
    """

    controller: RescaleController
    able: Capabilities
    size: LiveSize
    locality_wait: LocalityWait
    notes: Callable[[], Memory]
    changes_of_others: Callable[[int, float], str] = lambda *_: ""

    def __post_init__(self) -> None:
        self._tick: Callable[[], None] = lambda: None
        self._kept: Memory = {}
        self._is_held = False

    def capabilities(self) -> Capabilities:
        """Return what can be done to this application."""
        return self.able

    def sizes(self, now: float) -> tuple[int | None, int | None]:
        """Return the number of working executors and the target in force."""
        return self.size.now(now)

    def begin(self, decision: Decision, now: float) -> None:
        """Request the initial size if it exceeds the total requested before."""
        if self.size.begin(decision.target, self.size.requested()):
            self.rescale(decision, now)

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Reconcile the size with the decision, replace executors, and return the progress."""
        if self._is_held:
            self._is_held = False
            self.controller.resume(self._kept, now)
            self.controller.start(self._tick)
        replaced = [
            action.executor for action in decision.actions if isinstance(action, ReplaceExecutor)
        ]
        self.size.decide(decision.target, bool(replaced))
        decided = self.size.decided
        target = decision.target if decided is None else decided
        # Before the step: the cluster manager's refusals limit the total that it requests.
        happens = self.changes_of_others(target, now)
        rescaling = self.controller.reconcile(target, replaced, now, decided is not None)
        self._kept = rescaling.memory
        self.locality_wait.tick(rescaling.phase != "steady", now)
        kept = {**self.notes(), "protocol": rescaling.memory}
        detail = "; ".join(filter(None, (rescaling.detail, happens)))
        return replace(rescaling, detail=detail, memory=kept)

    def resume(self, kept: Memory, now: float) -> None:
        """Restore the executors' states as an earlier controller of this application left them,
        from the memory of its last ``rescale``.

        Its decision is not restored: the size may have changed since.
        """
        # Every application numbers its executors from zero; those of another one are different.
        if kept.get("application") == self.notes()["application"]:
            self._kept = kept["protocol"]
            self.controller.resume(self._kept, now)

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Work between decisions in a separate thread, which also calls ``tick``."""
        self._tick = tick
        self.controller.start(tick)

    def hold(self) -> None:
        """Leave the application alone, and forget the decision, until the next ``rescale``."""
        if self._is_held:
            return
        self._is_held = True
        self.controller.hold()
        self.locality_wait.restore()
        self.size.forget()

    def close(self) -> None:
        """Stop, and restore the application's own settings."""
        self.controller.stop()
        self.locality_wait.restore()


class NoopActuator(Actuator):
    """Changes nothing: the actuator of shadow mode, and of jobs that cannot be scaled."""

    def __init__(self, capabilities: Capabilities, size: LiveSize | None = None) -> None:
        self._capabilities = capabilities
        self._size = size

    def capabilities(self) -> Capabilities:
        """Return why nothing is changed."""
        return self._capabilities

    def sizes(self, now: float) -> tuple[int | None, int | None] | None:
        """Return the number of working executors and the size in force, if they are counted."""
        return self._size.now(now) if self._size else None

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Change nothing; the decision is advice."""
        # Always the same phase: nothing is in progress, so nothing can be overdue.
        return Rescaling(phase="advised", detail=f"{decision.target} executors would be enough")


def live_actuator(
    spark: Any,
    settings: Settings,
    internals: Internals,
    capabilities: ScalingCapabilities,
    is_stateful: Callable[[], bool],
    notes: Callable[[], Memory],
) -> SparkActuator:
    """Return the actuator of a live application; ``is_stateful`` reports whether a query has state,
    ``notes`` as in ``SparkActuator``.
    """
    cluster = _cluster(spark, internals)
    return SparkActuator(
        _controller(spark, settings, internals, capabilities, cluster),
        Capabilities(can_scale=True, cannot=capabilities.cannot),
        LiveSize(internals.executors, initial_executors(spark), capabilities.standby),
        LocalityWait(internals.locality_waits.set_wait, is_stateful),
        notes,
        cluster.poll,
    )


def _cluster(spark: Any, internals: Internals) -> SharedCluster:
    """Return the executors with the observer of their cluster manager."""
    failures = spark.sparkContext.getConf().get(FAILURES, None)
    tolerated = tolerated_failures(failures, initial_executors(spark) or 1)
    reasons = ExecutorsEndpoint(internals.status).remove_reasons
    executors, warm = internals.executors, of_session(spark)
    platform = Platform(internals.pods, reasons, tolerated, executors.leaving)
    ended, application = internals.gateway.stopped, str(spark.sparkContext.applicationId)
    if warm is None:
        return SharedCluster(executors, platform, ended)
    # A leaving executor writes a missing class archive.
    return SharedCluster(executors, platform, ended, partial(warm.train_soon, application))


def _controller(
    spark: Any,
    settings: Settings,
    internals: Internals,
    capabilities: ScalingCapabilities,
    cluster: SharedCluster,
) -> RescaleController:
    """Return the rescale controller; if state is placed, tasks wait long enough for it."""
    verdict, slo_s = capabilities.placement, settings.slo.latency_s
    config = RescaleConfig(
        slo_s=slo_s,
        hides=not is_on(spark, "spark.storage.decommission.enabled"),
        slots_per_executor=slots_per_executor(spark),
        standby=capabilities.standby,
        max_executors=settings.limits.max_executors,
        frees_nodes=settings.state.free_nodes,
    )
    rhythms = Rhythms(internals.queries)
    queries = RunningQueries(
        spark,
        internals.queries,
        internals.files,
        rhythms,
        verdict.on_object_stores,
        verdict.loads_on_object_stores,
    )
    managers = internals.block_managers
    shares = settings.state.shares
    weigh = internals.files.size if shares == "bytes" else None
    placement = Placement(internals.coordinator, weigh, shares == "ranges", verdict.places)
    if not verdict.places:
        return RescaleController(cluster, managers, queries, placement, None, config)
    own_s = locality_wait_s(spark)
    hold = TaskHold(
        internals.locality_waits.set_process_wait,
        usual=f"{STATE_WAIT_S:g}s" if own_s < STATE_WAIT_S else None,
        longer=f"{max(STATE_WAIT_S, own_s, slo_s):g}s",
    )
    loads = verdict.loads and not capabilities.standby
    preload = Preload(internals.state_loads.preload, queries.loadable, rhythms.pause_left_s)
    return RescaleController(
        cluster,
        managers,
        queries,
        placement,
        Warmup(internals.tasks, internals.warmup_runner, rhythms, queries.loadable, loads=loads),
        config,
        preload if verdict.loads else None,
        hold,
    )
