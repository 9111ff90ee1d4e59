"""The HTTP control API of a driver, and the effect of its write requests."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rheostat.errors import BadInput
from rheostat.guards import Guard
from rheostat.journal.job_status import job_status, status_json
from rheostat.journal.starts import Command
from rheostat.machine.missing_module import advice
from rheostat.ports import Policy
from rheostat.settings import Settings
from rheostat.spark.exports import Registry, registry_of
from rheostat.spark.handle import Handle
from rheostat.spark.journaling.start_events import directed_start
from rheostat.spark.restarting import drain

if TYPE_CHECKING:
    from rheostat.control.sizing import Sizing

_log = logging.getLogger("rheostat")


def serve_driver(
    spark: Any, handle: Handle, settings: Settings, registry: Registry | None = None
) -> str | None:
    """Serve the page and the control API until the autoscaler ends, and return their address.

    Both are optional: if they cannot be served, one line is logged and None returned.
    """
    if not settings.serve.serve:
        return None
    try:
        return _served(spark, handle, settings, registry or registry_of(handle))
    except ModuleNotFoundError as missing:
        why = advice(missing.name or str(missing))
    except BadInput as fault:
        why = str(fault).removeprefix("serve: ")
    _log.warning("rheostat: scaling continues without the control API: %s", why)
    return None


def _served(spark: Any, handle: Handle, settings: Settings, registry: Registry) -> str:
    from rheostat.control.access import Access
    from rheostat.control.control_app import control_app
    from rheostat.control.control_service import ControlService
    from rheostat.control.driver_report import TOKEN_VARIABLE
    from rheostat.control.jobs import Jobs
    from rheostat.control.journal_job import JournalJob
    from rheostat.control.server import Server

    access = Access.of_environment(settings.serve.host_names)

    def directed(sizing: Sizing) -> tuple[Policy, tuple[Guard, ...]]:
        new = settings_with(settings, sizing)
        parts = new.built_policy, new.built_guards
        if handle.start_event:
            handle.keep_start(directed_start(handle.start_event, new, sizing.mode))
        return parts

    service = ControlService(handle, directed, lambda: drain(spark), metrics=registry())
    jobs = Jobs(lambda: [JournalJob(handle.journal, lambda _: True)])

    def note(action: str, author: str) -> None:
        handle.note(Command(t_s=time.time(), action=action, author=author))

    def overview() -> dict[str, Any]:
        return status_json(job_status(handle.journal, time.time(), lambda _: True))

    app = control_app(service, access, overview, jobs, note)
    server = Server(app, *settings.serve.address, tls=settings.serve.tls)
    _link_spark_ui(spark, handle, server.url)
    handle.watch(service.see)
    handle.at_end(server.close)
    able = "reads and writes" if access.token else f"reads only: {TOKEN_VARIABLE} is not set"
    _log.info("rheostat: page and control API at %s (%s)", server.url, able)
    return server.address


def _link_spark_ui(spark: Any, handle: Handle, url: str) -> None:
    """Add a tab to Spark's UI that links to the page; not in shadow mode, which changes nothing."""
    if not handle.capabilities.can_scale or not hasattr(spark, "streams"):
        return
    from rheostat.spark.internals.compiled_classes import CompiledClasses
    from rheostat.spark.internals.gateway import Gateway
    from rheostat.spark.internals.spark_ui import SparkUi

    gateway = Gateway(spark)
    SparkUi(gateway, CompiledClasses(gateway)).link(url)


def settings_with(settings: Settings, sizing: Sizing) -> Settings:
    """Return the settings with the fields that a sizing names replaced; raises BadInput for an
    invalid policy and for a guard out of range.
    """
    return replace(
        settings,
        policy=sizing.policy or settings.policy,
        parameters=sizing.parameters if sizing.policy else settings.parameters,
        slo=sizing.slo or settings.slo,
        limits=sizing.limits or settings.limits,
        limits_given=settings.limits_given or sizing.limits is not None,
        guards=sizing.guards or settings.guards,
    )
