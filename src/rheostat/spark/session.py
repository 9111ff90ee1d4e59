"""The ways into a PySpark session: ``shadow`` watches it, ``attach`` sizes it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheostat.config import GuardOptions, LoopOptions, StateOptions
from rheostat.errors import BadInput
from rheostat.guards import Guard, guards_of
from rheostat.journal.folder import FolderJournal
from rheostat.loop import Loop
from rheostat.machine import folders
from rheostat.model import Capabilities, Limits, Slo
from rheostat.policies.registry import create
from rheostat.ports import Policy
from rheostat.spark.assembly import placement_verdict, steward
from rheostat.spark.handle import Handle
from rheostat.spark.internals.gateway import has_ended
from rheostat.spark.internals.internals import Internals, internals_of
from rheostat.spark.overhead import Overhead
from rheostat.spark.resizing.actuator import Adviser, SparkActuator
from rheostat.spark.resizing.locality_wait import Patience
from rheostat.spark.sensing.capabilities import (
    application_id,
    initial_executors,
    is_connect,
    is_local,
    obstacles,
    unseen,
)
from rheostat.spark.sensing.executors import ExecutorsEndpoint
from rheostat.spark.sensing.local_processes import LocalExecutors
from rheostat.spark.sensing.rhythms import Rhythms
from rheostat.spark.sensing.sensor import SparkSensor
from rheostat.spark.sensing.stages import StagesEndpoint
from rheostat.spark.sensing.usage import LocalUsage, StageUsage
from rheostat.spark.warming.preload import Preload
from rheostat.spark.warming.warmup import Warmup

if TYPE_CHECKING:
    from rheostat.kafka.offsets import Offsets

_log = logging.getLogger("rheostat")
DEFAULT_POLICY = "measured-throughput"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an application is to be sized; checked before anything is touched.

    ``policy`` is a registered name, with ``parameters`` of its own, or an object with ``decide``.
    ``kafka`` is a client configuration with ``bootstrap.servers``: the lag is then asked of the
    broker, also while a batch runs; without it the lag comes from the progress of finished batches.
    ``journal`` is a folder; by default one per application in the user's state folder. ``state``
    says whether state partitions move with the executors: ``auto`` where a soak has allowed it
    (``spark/resizing/soaked.py``), ``force`` wherever this Spark can, ``off`` never; how they are shared
    out: ``count`` (even numbers), ``bytes`` (even bytes in the checkpoint, for skewed state) or
    ``ranges`` (contiguous, Flink's rule); and how many ``standby`` executors are kept above the
    target, warm and without state, never beyond the ceiling. They take the state of a scale-out at
    once; they are paid for like the others, and count neither in ``Observation.executors`` nor in
    the budget.
    """  # noqa: E501

    policy: str | Policy = DEFAULT_POLICY
    parameters: Mapping[str, Any] = field(default_factory=dict)
    slo: Slo = field(default_factory=Slo)
    limits: Limits = field(default_factory=Limits)
    kafka: Mapping[str, str] | None = None
    journal: Path | None = None
    loop: LoopOptions = field(default_factory=LoopOptions)
    guards: GuardOptions = field(default_factory=GuardOptions)
    state: StateOptions = field(default_factory=StateOptions)

    def __post_init__(self) -> None:
        if self.kafka is not None and "bootstrap.servers" not in self.kafka:
            raise BadInput(
                f"kafka= needs 'bootstrap.servers', but it has {', '.join(self.kafka) or 'nothing'}"
            )
        self.make_policy()
        self.make_guards()

    def make_guards(self) -> tuple[Guard, ...]:
        """Return the guards in their order; raises BadInput for an option out of range."""
        return guards_of(self.limits, self.guards, self.loop)

    def make_policy(self) -> Policy:
        """Return the policy; raises BadInput for one that is unknown or has wrong parameters."""
        return (
            create(self.policy, self.parameters, self.slo)
            if isinstance(self.policy, str)
            else self.policy
        )

    @property
    def policy_name(self) -> str:
        """The policy's name."""
        return self.policy if isinstance(self.policy, str) else type(self.policy).__name__


def shadow(
    spark: Any,
    *,
    policy: str | Policy = DEFAULT_POLICY,
    parameters: Mapping[str, Any] | None = None,
    slo: Slo | float | None = None,
    limits: Limits | tuple[int, int] | None = None,
    kafka: Mapping[str, str] | None = None,
    journal: Path | str | None = None,
    loop: LoopOptions | None = None,
    guards: GuardOptions | None = None,
) -> Handle:
    """Watch a session and advise: public interfaces only, nothing is touched, decisions go to a
    journal in a local folder.

    Takes what ``attach`` takes, and raises what it raises.
    """
    return watch(spark, settings_of(policy, parameters, slo, limits, kafka, journal, loop, guards))


def attach(
    spark: Any,
    *,
    policy: str | Policy = DEFAULT_POLICY,
    parameters: Mapping[str, Any] | None = None,
    slo: Slo | float | None = None,
    limits: Limits | tuple[int, int] | None = None,
    kafka: Mapping[str, str] | None = None,
    journal: Path | str | None = None,
    loop: LoopOptions | None = None,
    guards: GuardOptions | None = None,
    placement: str = "auto",
    standby: int = 0,
    shares: str = "count",
) -> Handle:
    """Size a running session: decide every few seconds how many executors it needs, and change that
    number live.

    ``policy`` is a registered name (``parameters`` are its own) or an object with ``decide``;
    ``slo`` the latency objective in seconds (default 10); ``limits`` the least and the most
    executors (default 1 and 8); ``kafka`` a client configuration; ``journal`` a folder; ``loop``
    how often and how carefully; ``guards`` which further rules hold; ``placement`` whether state
    moves with the executors: ``auto``, ``force`` or ``off``; ``standby`` how many warm executors
    without state are kept above the target (see ``Settings``); ``shares`` how state is shared out:
    ``count``, ``bytes`` or ``ranges``. What this session does not allow is logged, a line each, and
    the job runs on unscaled.

    Raises BadInput for an unknown policy, a wrong parameter, wrong limits, an unknown placement or
    shares, or a negative standby.
    """
    return size(
        spark,
        settings_of(
            policy,
            parameters,
            slo,
            limits,
            kafka,
            journal,
            loop,
            guards,
            placement,
            standby,
            shares,
        ),
    )


def settings_of(
    policy: str | Policy = DEFAULT_POLICY,
    parameters: Mapping[str, Any] | None = None,
    slo: Slo | float | None = None,
    limits: Limits | tuple[int, int] | None = None,
    kafka: Mapping[str, str] | None = None,
    journal: Path | str | None = None,
    loop: LoopOptions | None = None,
    guards: GuardOptions | None = None,
    placement: str = "auto",
    standby: int = 0,
    shares: str = "count",
) -> Settings:
    """Return settings of what a user may write: numbers for the objective and the limits, a text
    for the journal's folder.
    """
    return Settings(
        policy=policy,
        parameters=parameters or {},
        slo=slo if isinstance(slo, Slo) else Slo() if slo is None else Slo(latency_s=slo),
        limits=(
            limits
            if isinstance(limits, Limits)
            else Limits()
            if limits is None
            else Limits.between(*limits)
        ),
        kafka=kafka,
        journal=Path(journal) if journal else None,
        loop=loop or LoopOptions(),
        guards=guards or GuardOptions(),
        state=StateOptions(placement=placement, standby=standby, shares=shares),
    )


def watch(spark: Any, settings: Settings) -> Handle:
    """Do what ``shadow`` says, with settings that are ready."""
    capabilities = Capabilities(
        can_scale=False, cannot=("shadow mode: nothing is changed", *unseen(spark))
    )
    return start(spark, settings, None, Adviser(capabilities))


def size(spark: Any, settings: Settings) -> Handle:
    """Do what ``attach`` says, with settings that are ready."""
    found = obstacles(spark)
    internals = None if is_connect(spark) else internals_of(spark)
    if found.blocking or internals is None:
        return start(
            spark,
            settings,
            internals,
            Adviser(Capabilities(can_scale=False, cannot=(*found.blocking, *found.degrading))),
        )
    if not internals.executors.can_request:
        missing = "this Spark's scheduler has no calls to change the number of executors"
        return start(
            spark, settings, internals, Adviser(Capabilities(can_scale=False, cannot=(missing,)))
        )
    placement = placement_verdict(spark, internals.coordinator, settings.state.placement)
    lacks = not placement.places and settings.state.placement != "off"
    cannot = (*found.degrading, placement.why) if lacks else found.degrading
    if not lacks:  # what it lacks is said with all that it cannot
        _log.info("rheostat: %s", placement.why)
    standby = settings.state.standby if placement.places else 0
    if settings.state.standby and not standby:
        cannot = (
            *cannot,
            "no executor stands by: that would bring nothing where state is not placed",
        )
    graceful = internals.executors.can_decommission and found.can_decommission
    rhythms = Rhythms(internals.queries)

    def active() -> Any:
        return spark.streams.active

    warmth = Warmup(
        internals.tasks,
        internals.rehearsal,
        rhythms,
        active,
        loads=placement.loads and not standby,
    )
    preload = Preload(internals.state_loads, active, rhythms) if placement.loads else None
    hands = steward(
        spark,
        internals,
        rhythms,
        placement.places,
        settings.slo.latency_s,
        graceful,
        warmth,
        preload,
        standby=standby,
        max_executors=settings.limits.max_executors,
        shares=settings.state.shares,
    )
    actuator = SparkActuator(
        hands, Capabilities(can_scale=True, cannot=cannot), application_id(spark), standby
    )
    actuator.target = initial_executors(spark)
    return start(spark, settings, internals, actuator)


def start(
    spark: Any,
    settings: Settings,
    internals: Internals | None,
    actuator: Adviser | SparkActuator,
) -> Handle:
    """Put the loop together, say what it will do, and start it."""
    options, capabilities = settings.loop, actuator.capabilities()
    journal = FolderJournal(settings.journal or _journal_folder(application_id(spark)))
    offsets, policy = _offsets(settings.kafka), settings.make_policy()
    endpoint = None if is_connect(spark) or is_local(spark) else _endpoint(spark)
    sensor = SparkSensor(
        spark,
        endpoint=endpoint,
        offsets=offsets,
        target=lambda: actuator.target,
        trigger_s=internals.queries.trigger_s if internals else lambda _: None,
        registered=(
            (lambda: actuator.at_work(internals.executors.registered()))
            if internals and isinstance(actuator, SparkActuator)
            else None
        ),
        local=LocalUsage(LocalExecutors(application_id(spark))) if endpoint else None,
        stages=(
            StageUsage(StagesEndpoint(endpoint.rest), getattr(policy, "live_signals", ()))
            if endpoint
            else None
        ),
    )
    if internals and isinstance(actuator, SparkActuator):
        actuator.patience = Patience(internals.locality_waits.set_wait, lambda: sensor.stateful)
    loop = Loop(
        sensor=sensor,
        policy=policy,
        guards=settings.make_guards(),
        actuator=actuator,
        journal=journal,
    )
    process = internals.process if internals else None
    overhead = Overhead(
        process.thread_cpu_s if process else None, process.process_id() if process else None
    )
    ended = internals.gateway.stopped if internals else lambda: has_ended(spark)

    def close() -> None:
        if offsets:
            offsets.close()
        actuator.close()

    if isinstance(actuator, SparkActuator):
        actuator.resume(journal.restore().get("rescaling", {}), time.time())
        actuator.start(lambda: overhead.tick("steward"))
    handle = Handle(loop, journal, capabilities, overhead, ended, close)
    _say(settings, capabilities, journal)
    handle.start(options.interval_s)
    return handle


def _say(settings: Settings, capabilities: Capabilities, journal: FolderJournal) -> None:
    limits = settings.limits
    _log.info(
        "rheostat %s this application: policy %s, %d to %d executors%s, objective %g s, a decision"
        " every %g s; journal %s, kill switch %s",
        "sizes" if capabilities.can_scale else "watches",
        settings.policy_name,
        limits.min_executors,
        limits.max_executors,
        f" ({settings.state.standby} of them in standby)" if settings.state.standby else "",
        settings.slo.latency_s,
        settings.loop.interval_s,
        journal.folder,
        journal.stop_file.name,
    )
    for line in capabilities.cannot:
        _log.warning("rheostat: %s", line)
    if settings.kafka is None:
        _log.info(
            "rheostat: no kafka= given: the lag is told from finished batches of a Kafka source,"
            " and unknown for other sources"
        )


def _endpoint(spark: Any) -> ExecutorsEndpoint:
    return ExecutorsEndpoint(spark.sparkContext.uiWebUrl, spark.sparkContext.applicationId)


def _offsets(kafka: Mapping[str, str] | None) -> Offsets | None:
    if kafka is None:
        return None
    try:
        from rheostat.kafka.offsets import Offsets
    except ImportError:
        _log.warning(
            "rheostat: no confluent-kafka here (pip install 'rheostat[kafka]'): the lag is told"
            " from finished batches"
        )
        return None
    return Offsets(kafka)


def _journal_folder(application: str) -> Path:
    return folders.state_folder() / "journal" / application
