"""Runs a PySpark script with the autoscaler around it: cluster, settings, attachment."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rheostat.capacity.initial_size import initial_size
from rheostat.clusters.registry import cluster_manager
from rheostat.clusters.run_settings import Plan, executor_shape, own_executors, planned
from rheostat.clusters.scaling_settings import CORES, Given, Wanted
from rheostat.errors import BadInput
from rheostat.journal.control_channel import Order
from rheostat.journal.folder import STOP_FILE
from rheostat.kafka.jars import source_jars
from rheostat.local.executor_options import arrivals, local_settings
from rheostat.local.standalone_cluster import DEFAULT_MEMORY_MIB, Cluster, end_driver
from rheostat.local.user_settings import SUBMIT, with_master
from rheostat.model import Limits
from rheostat.policies.third_party import make_importable
from rheostat.settings import PREFIX, Settings, merge
from rheostat.spark import session
from rheostat.spark.application_start import facts_before_session
from rheostat.spark.connect_server import Address
from rheostat.spark.handle import Handle
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.internals.stream_executions import EverySession
from rheostat.spark.journaling.journals import check_journal
from rheostat.spark.launching import Watching
from rheostat.spark.restarting import OneBatch, finishing
from rheostat.spark.sensing.capabilities import application_id, slots_per_executor
from rheostat.spark.warming.warm_start import of_script

_log = logging.getLogger("rheostat")
MASTER, DEPLOY_MODE = "spark.master", "spark.submit.deployMode"
NAME = "spark.app.name"
EXECUTOR_FLAGS = "spark.executor.extraJavaOptions"
SCRIPT = "the script"
LOCAL = "spark://a cluster on this computer"
NO_MASTER = "no master is named anywhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A script, how it is autoscaled or (``shadow``) observed, and where it runs.

    ``settings`` result from what the user has configured before the script runs. ``cli`` are the
    explicit command-line options, for a second merge if the script itself sets
    ``spark.rheostat.*``; None if the settings are final. ``master`` and ``local``, the capacity in
    executors of a local cluster, come from the command line; ``given`` are Spark's settings before
    the script runs. ``connect`` is the address of a Spark Connect server, which is scaled for the
    queries of all its clients. ``order`` comes from a supervisor.
    """

    script: Path
    settings: Settings
    cli: Mapping[str, Any] | None = None
    shadow: bool = False
    master: str | None = None
    local: int | None = None
    given: Mapping[str, Given] = field(default_factory=dict)
    connect: Address | None = None
    order: Order | None = None

    @property
    def planned_limits(self) -> Limits:
        """The limits to set in Spark; a supervised application keeps its size until it ends."""
        if self.order is None:
            return self.settings.limits
        return Limits.between(self.order.executors, self.order.executors)

    def with_script_settings(self, script_settings: Mapping[str, str]) -> Request:
        """Return the request for an application in which the script has set ``script_settings``.

        Raises BadInput for unusable settings of Rheostat.
        """
        if self.cli is None or not any(name.startswith(PREFIX) for name in script_settings):
            return self
        before = {name: setting.value for name, setting in self.given.items()}
        return replace(
            self, settings=settings_for(self.script, {**before, **script_settings}, self.cli)
        )

    def master_of(self, script_settings: Mapping[str, Given]) -> str | None:
        """Return the master of an application with these settings; None for a local cluster."""
        if MASTER in script_settings:
            return script_settings[MASTER].value
        if self.master or self.local:
            return self.master
        return self.given[MASTER].value if MASTER in self.given else None


def settings_for(script: Path, conf: Mapping[str, str], cli: Mapping[str, Any]) -> Settings:
    """Return the settings of a script's application.

    Raises BadInput for unusable values in Spark's configuration or on the command line.
    """
    policy = cli.get("policy") or conf.get(f"{PREFIX}policy", "")
    make_importable(policy, script.parent, script)
    return merge(conf=conf, cli=cli)


@dataclass(frozen=True, slots=True)
class Application:
    """An attached application of the script, with its effective limits."""

    id: str
    handle: Handle
    limits: Limits
    slots_per_executor: int
    since_s: float


def plan(
    request: Request,
    own: Mapping[str, Given],
    local: Mapping[str, Wanted] | None = None,
    attaches: bool = True,
) -> Plan:
    """Return settings and messages for an application; nothing is started.

    ``local`` are the settings of a local cluster. Unless Rheostat ``attaches``, Spark's size stays.
    """
    master = request.master_of(own)
    placed = request.master or request.local
    outside = {
        name: setting for name, setting in request.given.items() if name != MASTER or not placed
    }
    given = {**outside, **own}
    additional: Mapping[str, Wanted] = {}
    if master is None:
        additional = local or _local_before(given, request.settings.kafka is not None)
    elif request.master:
        additional = {MASTER: Wanted(request.master, "named on the command line")}
    if request.connect:
        additional = {**additional, **request.connect.wanted}
    scales = attaches and (not request.shadow or master is None)
    settings = planned(
        request.planned_limits,
        given,
        (master or LOCAL) if scales else "local",
        additional,
        initial=_initial(request, given),
    )
    return replace(settings, lines=(*_unused(request, own), *settings.lines))


def _initial(request: Request, given: Mapping[str, Given]) -> int:
    """Return the initial executor count as far as it is known before the session; otherwise 1."""
    if request.shadow or request.order:
        return 1
    settings = request.settings
    name = given[NAME].value if NAME in given else ""
    facts = facts_before_session(settings, name, time.time())
    return initial_size(facts, settings.limits, settings.slo.latency_s).executors


def _local_before(given: Mapping[str, Given], kafka: bool) -> dict[str, Wanted]:
    """Return the settings of an application on a local cluster that has not started yet."""
    jars = [Path("the JARs of Spark's Kafka source")] if kafka else []
    return {MASTER: Wanted(LOCAL, NO_MASTER), **local_settings(given, jars=jars)}


def _set_for(settings: Plan) -> tuple[str, ...]:
    """Return a message that Rheostat configures an application on a user's cluster."""
    ours = {name: value for name, value in settings.settings.items() if name != MASTER}
    if not ours:
        return ()
    shape = f", {CORES}={ours[CORES]} among them" if CORES in ours else ""
    return (
        f"sets {len(ours)} settings of Spark that you have not set{shape}; they are shown by:"
        " rheostat run --show-settings",
    )


def _unused(request: Request, own: Mapping[str, Given]) -> tuple[str, ...]:
    if MASTER not in own or own[MASTER].value == request.master:
        return ()
    options = {"--master": request.master, "--local": request.local}
    return tuple(
        f"{MASTER}={own[MASTER].value} ({own[MASTER].origin}): {option} {value} is not used"
        for option, value in options.items()
        if value
    )


class AppRun:
    """The hooks around a script's applications, called by ``spark.launching``.

    A local cluster starts when an application needs it, and ends with this object.
    """

    def __init__(self, request: Request, batches: OneBatch | None = None) -> None:
        self.applications: list[Application] = []
        self.request = request
        """The request of the newest application."""
        self._original = request
        self._batches = batches or OneBatch()
        self._limits = request.settings.limits
        self._logged: set[str] = set()
        self._own_executors: int | None = None
        self._attaches = True
        self._cluster: Cluster | None = None
        self._stack = ExitStack()

    def __enter__(self) -> AppRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def settings(self, own: Mapping[str, str]) -> Mapping[str, str]:
        """Return the settings of the next application; start a local cluster if it needs one.

        Raises RheostatError if that fails, BadInput for an unusable master.
        """
        request = self.request = self._original.with_script_settings(own)
        before = {name: setting.value for name, setting in request.given.items()}
        scripts = {
            name: Given(value, SCRIPT) for name, value in own.items() if before.get(name) != value
        }
        local, master = None, request.master_of(scripts)
        given = {**request.given, **scripts}
        if master is not None:
            cluster_manager(master).check(master, os.environ, given)
        if master is None:
            local = self._local(given)
        elif request.master and MASTER not in scripts:
            os.environ[SUBMIT] = with_master(os.environ.get(SUBMIT), request.master)
        self._attaches = self._can_attach(given)
        planned = plan(request, scripts, local, self._attaches)
        if self._attaches and not request.shadow and request.order is None:
            self._own_executors = own_executors(planned.limits, given, master or LOCAL)
        self._log_once((*(_set_for(planned) if local is None else ()), *planned.lines))
        if request.order is None:
            self._limits = planned.limits
        return planned.settings

    def session(self, spark: Any) -> Watching | None:
        """Attach to an application unless the kill switch is set; each has its own journal."""
        settings, order = self.request.settings, self.request.order
        if order and order.once and settings.restarts:
            return finishing(spark, settings.restarts, order, self._batches)
        if not self._attaches:
            return None
        try:
            attached = self._attached(spark)
        except Exception:
            self._restore_size(spark)
            raise
        if attached and not attached.capabilities.can_scale:
            self._restore_size(spark)
        return attached

    def _can_attach(self, given: Mapping[str, Given]) -> bool:
        """Return whether Rheostat can attach later, as far as that is known before Spark starts."""
        if self.request.order is not None:
            return True
        mode = given[DEPLOY_MODE].value if DEPLOY_MODE in given else ""
        try:
            check_journal(self.request.settings, mode)
        except BadInput as fault:
            self._log_once([f"not attached, the job runs with Spark's own settings: {fault}"])
            return False
        return True

    def _restore_size(self, spark: Any) -> None:
        """Request the executors that Spark would have had with the user's own settings."""
        executors = self._own_executors
        if executors is None:
            return
        try:
            requested = internals_of(spark).executors.request_total(executors)
        except Exception as fault:
            _log.warning("rheostat: Spark's own size cannot be restored: %s", fault)
            return
        outcome = "requested" if requested else "requested, and refused by the cluster manager"
        _log.warning(
            "rheostat: %d executors, which Spark's own settings allow, are %s", executors, outcome
        )

    def _attached(self, spark: Any) -> Handle | None:
        application = application_id(spark)
        settings = replace(
            self.request.settings, limits=self._limits, journal=self._journal(application)
        )
        if self.applications:
            _log.info("rheostat: the script has started another application, %s", application)
            stopped = self.applications[-1].handle.journal / STOP_FILE
            if stopped.exists():
                _log.warning("rheostat: not attached, because the kill switch %s is set", stopped)
                return None
        since_s = time.time()
        watched = EverySession(spark) if self.request.connect else spark
        if self.request.shadow:
            handle = session.observe(watched, settings)
        else:
            handle = session.autoscale(watched, settings, gives_way=True)
        slots = 1 if application == "connect" else slots_per_executor(spark)
        self.applications.append(Application(application, handle, self._limits, slots, since_s))
        return handle

    def _log_once(self, lines: Sequence[str]) -> None:
        """Log each line once, even if there are several applications."""
        for line in (candidate for candidate in lines if candidate not in self._logged):
            _log.warning("rheostat: %s", line)
            self._logged.add(line)

    def _journal(self, application: str) -> Path | str | None:
        """Return the configured folder; for later applications a subfolder of it."""
        folder = self.request.settings.journal
        if not folder or not self.applications:
            return folder
        return f"{folder}/{application}" if isinstance(folder, str) else folder / application

    def _local(self, given: Mapping[str, Given]) -> dict[str, Wanted]:
        """Start the local cluster and return the settings of an application on it."""
        cluster, warm = self._started(given), None
        jars = source_jars().paths if self.request.settings.kafka else ()
        if EXECUTOR_FLAGS not in given:
            warm, cold = arrivals(of_script(self.request.script), cluster.folder, jars)
            if cold:
                _log.info("rheostat: %s", cold)
        arriving = warm.settings if warm else {}
        return {
            MASTER: Wanted(cluster.url, NO_MASTER),
            **local_settings(given, jars=jars, archive_flags=warm.flags if warm else ()),
            **{name: Wanted(value, "executors arrive warm") for name, value in arriving.items()},
        }

    def _started(self, given: Mapping[str, Given]) -> Cluster:
        if self._cluster is None:
            room = self.request.local or self.request.settings.limits.max_executors
            cores, memory_mib = executor_shape(given, DEFAULT_MEMORY_MIB)
            cluster = Cluster(cores=room * cores, memory_mib=math.ceil(memory_mib / cores))
            self._cluster = self._stack.enter_context(cluster)
            self._stack.callback(end_driver)
            os.environ.update(self._cluster.driver_environment())
        return self._cluster
