"""Puts the parts together: all that watches an application, and all that sizes it; nothing is
started here, and nothing of the application is touched.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheostat.journal.control_channel import ControlChannel, Order
from rheostat.loop import Loop
from rheostat.model import Capabilities, Decision
from rheostat.protocols.request_limits import tolerated_failures
from rheostat.protocols.size_in_force import SizeInForce
from rheostat.settings import Settings
from rheostat.spark.announcement import BrokerLog
from rheostat.spark.handle import Handle
from rheostat.spark.internals.gateway import has_ended
from rheostat.spark.internals.internals import Internals, internals_of
from rheostat.spark.journaling.journals import kept
from rheostat.spark.overhead import Overhead
from rheostat.spark.repartition_command import partitions_command
from rheostat.spark.resizing.actuator import NoopActuator, SparkActuator
from rheostat.spark.resizing.executors.conflict_detector import ConflictDetector, ThrottledExecutors
from rheostat.spark.resizing.executors.platform import Platform
from rheostat.spark.resizing.locality import LocalityWait
from rheostat.spark.resizing.rescale_config import RescaleConfig
from rheostat.spark.resizing.rescale_controller import RescaleController
from rheostat.spark.resizing.state.state_placement import Placement
from rheostat.spark.restarting.job_watch import JobWatch
from rheostat.spark.restarting.restart_actuator import RestartActuator
from rheostat.spark.restarting.session_queries import SessionQueries
from rheostat.spark.scaling_capabilities import ScalingCapabilities, means_of
from rheostat.spark.sensing.capabilities.capabilities import (
    application_id,
    initial_executors,
    is_connect,
    is_local,
    is_on,
    locality_wait_s,
    obstacles,
    slots_per_executor,
    unseen,
)
from rheostat.spark.sensing.fleet_receivers import wanted_receivers
from rheostat.spark.sensing.local_processes import LocalExecutors
from rheostat.spark.sensing.queries.rhythms import Rhythms
from rheostat.spark.sensing.queries.running_queries import RunningQueries
from rheostat.spark.sensing.resource_usage import OF_STAGES, STAGES_S, LocalUsage, StageUsage
from rheostat.spark.sensing.rest.rest_executors import ExecutorsEndpoint
from rheostat.spark.sensing.rest.rest_pages import Pages, Rest
from rheostat.spark.sensing.rest.stages import StagesEndpoint
from rheostat.spark.sensing.sensor import SparkSensor
from rheostat.spark.settings.scaling_settings import FAILURES
from rheostat.spark.starting import (
    JobNotes,
    Start,
    begin,
    committed_by,
    session_start,
    start_at,
)
from rheostat.spark.warming.preload import Preload
from rheostat.spark.warming.warm_start import of_session
from rheostat.spark.warming.warmup import Warmup

if TYPE_CHECKING:
    from rheostat.kafka.offsets import Offsets

_log = logging.getLogger("rheostat")
STATE_WAIT_S = 3.0
"""Spark's own wait for a preferred executor.

With a shorter one state wanders by itself, and no place that it is given holds.
"""


def watcher(spark: Any, settings: Settings) -> Handle:
    """Return what watches an application by public interfaces only."""
    cannot = ("shadow mode: nothing is changed", *unseen(spark))
    return _advised(spark, settings, None, cannot)


def sizer(spark: Any, settings: Settings) -> Handle:
    """Return what sizes an application, as far as it allows; else what watches it and says why."""
    limitations = obstacles(spark)
    if is_connect(spark):
        return _advised(spark, settings, None, limitations.blocking)
    internals = internals_of(spark)
    if settings.restarts:
        return _restarted(spark, settings, internals, settings.restarts)
    if limitations.blocking:
        return _advised(spark, settings, internals, (*limitations.blocking, *limitations.degrading))
    if not internals.executors.can_request:
        missing = "this Spark's scheduler has no calls to change the number of executors"
        return _advised(spark, settings, internals, (missing,))
    return _sized(spark, settings, internals, means_of(spark, settings, internals, limitations))


def _advised(
    spark: Any, settings: Settings, internals: Internals | None, cannot: tuple[str, ...]
) -> Handle:
    watched = _Watched(spark, settings, internals, None)
    return watched.handle(NoopActuator(Capabilities(can_scale=False, cannot=cannot)))


def _restarted(spark: Any, settings: Settings, internals: Internals, folder: Path) -> Handle:
    """Return what decides in a supervised job: its size is that of its last start."""
    channel = ControlChannel(folder)
    order = channel.order() or Order(run=0, executors=initial_executors(spark) or 1)
    watched = _Watched(
        spark, settings, internals, lambda _: (internals.executors.registered(), order.executors)
    )
    watch = JobWatch(SessionQueries(spark, internals.queries), channel, order.run)
    actuator = RestartActuator(
        channel, order.run, order.executors, watch, internals.gateway.stopped, watched.notes
    )
    return watched.handle(actuator, start_at(order.executors, settings, time.time()))


def _sized(
    spark: Any, settings: Settings, internals: Internals, means: ScalingCapabilities
) -> Handle:
    at_first, size = initial_executors(spark), SizeInForce(means.standby)
    executors = internals.executors

    def sizes(now: float) -> tuple[int | None, int | None]:
        # What was asked for may change until something is decided, and only then it matters.
        requested = (executors.requested() or at_first) if size.decided is None else None
        return size.see(executors.registered(), requested, now)

    watched = _Watched(spark, settings, internals, sizes)
    start = watched.start(internals, executors.requested() or at_first or executors.registered())
    platform = _platform(spark, internals)
    other = ConflictDetector(executors.requested)

    def happens(target: int, now: float) -> str:
        cluster = platform.look(executors.ids(), target, now)
        return "; ".join(filter(None, (cluster, other.words(now))))

    actuator = SparkActuator(
        rescale_controller(spark, settings, internals, means, platform, other),
        Capabilities(can_scale=True, cannot=means.cannot),
        size,
        LocalityWait(internals.locality_waits.set_wait, lambda: watched.sensor.stateful),
        watched.notes,
        happens,
    )

    def request(now: float) -> None:
        if not watched.halted() and size.begin(
            start.size.executors, executors.requested() or at_first
        ):
            actuator.rescale(Decision(target=start.size.executors, reason=start.size.reason), now)

    return watched.handle(actuator, start, request)


def _platform(spark: Any, internals: Internals) -> Platform:
    """Return what watches the cluster manager."""
    endpoint = ExecutorsEndpoint(internals.status)

    def reasons() -> Mapping[str, str | None]:
        return {executor.id: executor.remove_reason for executor in endpoint.all() or []}

    failures = spark.sparkContext.getConf().get(FAILURES, None)
    bears = tolerated_failures(failures, initial_executors(spark) or 1)
    return Platform(internals.pods, reasons, bears, internals.executors.leaving)


class _Watched:
    """What every handle has: the sensor, the journal, and what the autoscaler itself costs."""

    def __init__(
        self,
        spark: Any,
        settings: Settings,
        internals: Internals | None,
        sizes: Callable[[float], tuple[int | None, int | None]] | None,
    ) -> None:
        self._settings = settings
        self._policy = settings.built_policy
        self._offsets = _offsets(settings.kafka)
        signals = getattr(self._policy, "live_signals", ())
        every_s = getattr(self._policy, "stages_every_s", STAGES_S)
        if settings.serve.serve:  # any policy may be asked for, and any metric
            signals, every_s = OF_STAGES, STAGES_S
        broker = self._offsets, BrokerLog((settings.kafka or {}).get("bootstrap.servers", ""))
        self.sensor = _sensor(spark, internals, broker, (signals, every_s), sizes)
        self._kept = kept(spark, settings, internals)
        self._spark = spark
        self.notes = JobNotes(spark, internals.queries.checkpoint) if internals else dict
        process = internals.process if internals else None
        self._overhead = Overhead(
            process.thread_cpu_s if process else None, process.process_id() if process else None
        )
        self._command = partitions_command(spark, internals, settings, self._kept.journal.folder)
        self._ended = internals.gateway.stopped if internals else lambda: has_ended(spark)

    def start(self, internals: Internals, configured: int) -> Start:
        """Return the size to start with where so many executors are configured."""
        latest = self._offsets.latest if self._offsets else None
        journal = self._kept.journal
        return session_start(self._spark, self._settings, internals, journal, latest, configured)

    def halted(self) -> bool:
        """Tell whether the kill switch was pulled."""
        return bool(self._kept.journal.halted())

    def handle(
        self,
        actuator: NoopActuator | SparkActuator | RestartActuator,
        start: Start | None = None,
        request: Callable[[float], None] = lambda _: None,
    ) -> Handle:
        """Return the handle of the loop with this actuator; nothing runs before its start.

        ``request`` requests the initial size.
        """
        kept, offsets, overhead = self._kept, self._offsets, self._overhead
        journal = kept.journal
        loop = Loop(
            sensor=self.sensor,
            policy=self._policy,
            guards=self._settings.built_guards,
            actuator=actuator,
            journal=journal,
            command=self._command,
        )

        def open_all() -> None:
            kept.tasks.start()
            actuator.resume(journal.restore().get("rescaling", {}), time.time())
            actuator.start(lambda: overhead.tick("rescale controller"))
            if start:
                begin(start, loop, request, time.time())

        def close_all() -> None:
            if offsets:
                offsets.close()
            actuator.close()
            kept.close()

        return Handle(
            loop,
            journal,
            capabilities=actuator.capabilities(),
            overhead=overhead,
            ended=self._ended,
            opening=open_all,
            closing=close_all,
            summary=self._settings.summary,
        )


def _sensor(
    spark: Any,
    internals: Internals | None,
    broker: tuple[Offsets | None, BrokerLog],
    signals: tuple[Collection[str], float],
    sizes: Callable[[float], tuple[int | None, int | None]] | None,
) -> SparkSensor:
    trigger_s = internals.queries.trigger_s if internals else lambda _: None
    offsets, changed = broker[0], broker[1].changed
    committed = committed_by(internals)
    if is_connect(spark) or is_local(spark):
        return SparkSensor(spark, None, offsets, trigger_s, sizes, broker_changed=changed)
    application = application_id(spark)
    pages: Pages = internals.status if internals else Rest(spark.sparkContext.uiWebUrl, application)
    return SparkSensor(
        spark,
        ExecutorsEndpoint(pages),
        offsets,
        trigger_s,
        sizes,
        local=LocalUsage(LocalExecutors(application)),
        stages=StageUsage(StagesEndpoint(pages), *signals),
        receivers=lambda: wanted_receivers(application),
        broker_changed=changed,
        committed=committed,
    )


def rescale_controller(
    spark: Any,
    settings: Settings,
    internals: Internals,
    means: ScalingCapabilities,
    platform: Platform,
    other: ConflictDetector,
) -> RescaleController:
    """Return the rescale controller of an application; where state is placed it moves it, and
    tasks wait long enough for the state they need.
    """
    verdict, slo_s = means.placement, settings.slo.latency_s
    own_s = locality_wait_s(spark)
    short = verdict.places and own_s < STATE_WAIT_S
    usual = f"{STATE_WAIT_S:g}s" if short else None
    longer = f"{max(STATE_WAIT_S, own_s, slo_s):g}s"
    waits = internals.locality_waits
    terms = RescaleConfig(
        slo_s=slo_s,
        graceful=means.graceful,
        hides=not is_on(spark, "spark.storage.decommission.enabled"),
        slots_per_executor=slots_per_executor(spark),
        standby=means.standby,
        max_executors=settings.limits.max_executors,
        nodes=platform.nodes,
        frees_nodes=settings.state.free_nodes,
        leaving=_training(spark),
        ended=internals.gateway.stopped,
        hold=lambda changes: waits.set_process_wait(longer if changes else usual),
        at_start=lambda: waits.set_process_wait(usual) if short else None,
        at_end=lambda: waits.set_process_wait(None) if short else None,
    )
    rhythms = Rhythms(internals.queries)
    queries = RunningQueries(spark, internals.queries, internals.files, rhythms)
    managers = internals.block_managers
    executors = ThrottledExecutors(internals.executors, platform.total, other)
    if not verdict.places:
        return RescaleController(executors, managers, queries, None, None, terms)

    def active() -> Any:
        return spark.streams.active

    shares = settings.state.shares
    weigh = internals.files.size if shares == "bytes" else None
    loads = verdict.loads and not means.standby
    return RescaleController(
        executors,
        managers,
        queries,
        Placement(internals.coordinator, weigh, shares == "ranges"),
        Warmup(internals.tasks, internals.warmup_runner, rhythms, active, loads=loads),
        terms,
        Preload(internals.state_loads, active, rhythms) if verdict.loads else None,
    )


def _training(spark: Any) -> Callable[[str], None]:
    """Return what a leaving executor is used for: it writes the class archive that later ones start
    from, if there is none yet.
    """
    warm, application = of_session(spark), str(spark.sparkContext.applicationId)
    return (lambda executor: warm.train_soon(application, executor)) if warm else (lambda _: None)


def _offsets(kafka: Mapping[str, Any] | None) -> Offsets | None:
    if kafka is None:
        return None
    try:
        from rheostat.kafka.offsets import Offsets
    except ImportError:
        return None
    return Offsets(kafka)
