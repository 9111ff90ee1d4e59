"""Builds an autoscaler from its parts; nothing is started, and the application is unchanged."""

from __future__ import annotations

import logging
import shlex
import time
from functools import partial
from pathlib import Path
from typing import Any

from rheostat.guards.schedule import floor_at
from rheostat.journal.control_channel import ControlChannel, Order
from rheostat.model import Capabilities, Observation
from rheostat.ports import SignalNeeds
from rheostat.protocols.release import Release
from rheostat.settings import Settings
from rheostat.signals.application import WithObjectives
from rheostat.sources.backlog_reader import BacklogReader
from rheostat.sources.iceberg_backlog import DESCRIPTION, IcebergBacklog
from rheostat.sources.readers import reader_of
from rheostat.spark.announcement import BrokerLog, beyond_ceiling
from rheostat.spark.application_start import (
    JobNotes,
    Parts,
    broker_of,
    committed_by,
    session_start,
    start_at,
)
from rheostat.spark.handle import Handle
from rheostat.spark.internals.gateway import has_ended
from rheostat.spark.internals.internals import Internals, internals_of
from rheostat.spark.internals.stream_executions import table_of
from rheostat.spark.journaling.journals import open_journal
from rheostat.spark.resizing.actuator import NoopActuator, ScalingCapabilities, live_actuator
from rheostat.spark.resizing.placement_soaks import placement_verdict
from rheostat.spark.restarting import JobWatch, RestartActuator, SessionQueries
from rheostat.spark.running_queries import QuietTime
from rheostat.spark.sensing.capabilities import (
    Obstacles,
    application_id,
    initial_executors,
    is_connect,
    is_fair,
    is_local,
    observation_obstacles,
    obstacles,
)
from rheostat.spark.sensing.local_processes import LocalExecutors
from rheostat.spark.sensing.query_shape import rescale_command, rescaling_means
from rheostat.spark.sensing.resource_usage import OF_STAGES, LocalUsage, StageUsage
from rheostat.spark.sensing.rest import ExecutorsEndpoint, Pages, Rest
from rheostat.spark.sensing.sensor import SparkSensor, wanted_receivers
from rheostat.spark.sensing.stages import StagesEndpoint
from rheostat.state.proposed_count import Command

_log = logging.getLogger("rheostat")


def observing_handle(spark: Any, settings: Settings) -> Handle:
    """Return the handle that observes an application through public interfaces only."""
    cannot = ("shadow mode: nothing is changed", *observation_obstacles(spark))
    return _advised(spark, settings, None, cannot)


def scaling_handle(spark: Any, settings: Settings) -> Handle:
    """Return the handle that autoscales an application, or only observes it and says why."""
    limitations = obstacles(spark)
    if is_connect(spark):
        return _advised(spark, settings, None, limitations.blocking)
    internals = internals_of(spark)
    if settings.restarts:
        return _restarted(spark, settings, internals, settings.restarts)
    cannot = (*limitations.blocking, *limitations.degrading) if limitations.blocking else ()
    if not cannot and not internals.executors.can_request:
        cannot = ("this Spark's scheduler has no calls to change the number of executors",)
    if cannot:
        return _advised(spark, settings, internals, cannot)
    capabilities = scaling_capabilities(spark, settings, internals, limitations)
    return _sized(spark, settings, internals, capabilities)


def scaling_capabilities(
    spark: Any, settings: Settings, internals: Internals, limitations: Obstacles
) -> ScalingCapabilities:
    """Return what this session allows, and which requested features are unavailable."""
    state = settings.state
    placement = placement_verdict(spark, internals.coordinator, state.placement)
    cannot = [*limitations.degrading]
    if spark.sparkContext.uiWebUrl is None and not internals.status.answers:
        cannot.append(
            "spark.ui.enabled is off: executors are counted, but their load is not observable"
        )
    if not placement.places and state.placement != "off":
        cannot.append(placement.why)
    else:
        _log.info("rheostat: %s", placement.why)
    if settings.priority and not is_fair(spark):
        cannot.append(
            "spark.scheduler.mode is not FAIR: a priority decides whose late rows count, but not"
            " whose tasks run first"
        )
    too_many = beyond_ceiling(settings, internals.executors.registered())
    if too_many:
        cannot.append(too_many)
    if state.standby and not placement.places:
        cannot.append("no standby executors: they have no benefit where state is not placed")
    return ScalingCapabilities(
        placement=placement,
        standby=state.standby if placement.places else 0,
        cannot=tuple(cannot),
    )


def _parts(
    spark: Any, settings: Settings, internals: Internals | None, sensor: SparkSensor
) -> Parts:
    """Return the parts of an autoscaler; in shadow mode there are no ``internals``."""
    own = open_journal(spark, settings, internals)
    return Parts(
        settings=settings,
        sensor=WithObjectives(sensor, settings.slo, settings.priority),
        journaling=own,
        ended=internals.gateway.stopped if internals else partial(has_ended, spark),
        command=partitions_command(spark, internals, settings, own.journal.folder),
    )


def _advised(
    spark: Any, settings: Settings, internals: Internals | None, cannot: tuple[str, ...]
) -> Handle:
    parts = _parts(spark, settings, internals, _sensor(spark, settings, internals))
    return parts.handle(NoopActuator(Capabilities(can_scale=False, cannot=cannot)))


def _restarted(spark: Any, settings: Settings, internals: Internals, folder: Path) -> Handle:
    """Return the handle of a supervised job, whose size is that of its last start."""
    channel = ControlChannel(folder)
    order = channel.order() or Order(run=0, executors=initial_executors(spark) or 1)
    actuator = RestartActuator(
        channel,
        order,
        JobWatch(SessionQueries(spark, internals.queries), channel, order.run),
        internals.gateway.stopped,
        JobNotes(spark, internals.queries.checkpoint),
        internals.executors.registered,
    )
    parts = _parts(spark, settings, internals, _sensor(spark, settings, internals))
    return parts.handle(actuator, start_at(order.executors, settings, time.time()))


def _sized(
    spark: Any, settings: Settings, internals: Internals, capabilities: ScalingCapabilities
) -> Handle:
    sensor = _sensor(spark, settings, internals)
    parts = _parts(spark, settings, internals, sensor)
    notes = JobNotes(spark, internals.queries.checkpoint)
    actuator = live_actuator(
        spark, settings, internals, capabilities, lambda: sensor.stateful, notes
    )
    latest = sensor.offsets.latest if sensor.offsets else None
    configured = actuator.size.requested() or internals.executors.registered()
    start = session_start(spark, settings, internals, parts.journaling.journal, latest, configured)
    return parts.handle(actuator, start, _release(spark, settings, internals))


def _release(spark: Any, settings: Settings, internals: Internals) -> Release | None:
    """Return what releases all executors between two runs; None without ``min=0``."""
    if not settings.releases:
        return None
    return Release(
        QuietTime(spark, internals.queries), partial(floor_at, str(settings.guards.floor))
    )


def _sensor(spark: Any, settings: Settings, internals: Internals | None) -> SparkSensor:
    offsets = broker_of(settings.kafka)
    changed = BrokerLog((settings.kafka or {}).get("bootstrap.servers", "")).changed
    private: dict[str, Any] = {"readers": partial(source_reader, internals)}
    if internals:
        private["trigger_s"] = internals.queries.trigger_s
        private["committed"] = partial(committed_by, internals)
        private["real_time_s"] = internals.queries.real_time_s
    if is_connect(spark) or is_local(spark):
        return SparkSensor(spark, None, offsets, broker_changed=changed, **private)
    # The control API may select any policy and reports any metric.
    needs = (
        SignalNeeds(OF_STAGES) if settings.serve.serve else SignalNeeds.of(settings.built_policy)
    )
    application = application_id(spark)
    pages: Pages = internals.status if internals else Rest(spark.sparkContext.uiWebUrl, application)
    return SparkSensor(
        spark,
        ExecutorsEndpoint(pages),
        offsets,
        local=LocalUsage(LocalExecutors(application).used),
        stages=StageUsage(StagesEndpoint(pages), needs.live_signals, needs.stages_every_s),
        receivers=partial(wanted_receivers, application),
        broker_changed=changed,
        **private,
    )


def source_reader(
    internals: Internals | None, query: Any, number: int, description: str
) -> BacklogReader | None:
    """Return the backlog reader of a source; in shadow mode neither its checkpoint, nor remote
    files, nor Iceberg tables are accessible.
    """
    if internals and description.startswith(DESCRIPTION):
        table = table_of(query, description)
        return IcebergBacklog(table) if table else None
    checkpoint = internals.queries.checkpoint(query) if internals else None
    return reader_of(description, number, checkpoint, internals.files if internals else None)


def partitions_command(
    spark: Any, internals: Internals | None, settings: Settings, journal: Path
) -> Command:
    """Return a function that returns the command: a restart for a supervised job, else a
    repartition of the stopped query's checkpoint, with its path if the session knows it. State of
    Spark 3.5 cannot be repartitioned, and that of 4.0 to 4.2 only by a newer PySpark.
    """

    def command(observation: Observation, number: int) -> str:
        means = rescaling_means(spark.version)
        if settings.restarts and means == "own":
            return f"rheostat restart {shlex.quote(str(journal))} --partitions {number}"
        checkpoint = _checkpoint(spark, internals, observation.query) or "CHECKPOINT"
        line = rescale_command(means, checkpoint, number)
        return line if means == "none" else f"{line}, while the query is stopped"

    return command


def _checkpoint(spark: Any, internals: Internals | None, name: str | None) -> str | None:
    """Return the checkpoint of the query with that name, or of the only query."""
    active = list(spark.streams.active)
    named = [query for query in active if name in (query.name, str(query.id))] or active
    folder = internals.queries.checkpoint(named[0]) if internals and len(named) == 1 else None
    return shlex.quote(folder.removeprefix("file:")) if folder else None
