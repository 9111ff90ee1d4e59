"""``rheostat run``: runs an unchanged PySpark script with the autoscaler."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.options import explicit_options, pairs, takes
from rheostat.cli.output import emit, write_out
from rheostat.config import (
    PRIORITY_HELP,
    SLO_HELP,
    ExportOptions,
    GuardOptions,
    JournalOptions,
    LoopOptions,
    RestartOptions,
    ServeOptions,
    StateOptions,
    option,
)
from rheostat.errors import BadInput
from rheostat.journal.events import rescalings
from rheostat.journal.folder import read
from rheostat.local.app_run import Application, AppRun, Request, plan, settings_for
from rheostat.machine.orderly_end import orderly_end
from rheostat.model import Limits, Record
from rheostat.policies.default_policy import DEFAULT_POLICY

if TYPE_CHECKING:
    from rheostat.clusters.run_settings import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How and where an application is autoscaled, and the source of its lag and its journal."""

    policy: str = option(
        DEFAULT_POLICY, "policy by name, or your own as module:Class, also next to the script"
    )
    parameters: list[str] | None = option(
        None, "a parameter of the policy, name=value; repeatable", flag="--set"
    )
    minimum: int = option(1, "floor of the number of executors; 0: none between runs", flag="--min")
    maximum: int | None = option(
        None, "ceiling of the number of executors; default: --local, else 8", flag="--max"
    )
    slo: str = option("10", SLO_HELP)
    priority: str | None = option(None, PRIORITY_HELP)
    price: float = option(0.0, "price of a slot-hour, to show savings; 0: none")
    shadow: bool = option(False, "observe and recommend only; change nothing", flag="--shadow")
    master: str | None = option(
        None, "Spark master; default: from your settings, otherwise a local cluster"
    )
    local: int | None = option(
        None, "a local Standalone cluster with room for this many executors", least=1
    )
    kafka: str | None = option(
        None,
        "read the lag from Kafka: host:port, or a properties file (name=value lines with"
        " librdkafka's names, including SASL and TLS); a local cluster gets Kafka's source",
    )
    journal: str | None = option(
        None,
        "folder of the journal, also hdfs:// or s3a://; default: one per application in the"
        " user's state folder. Further applications of the script get subfolders",
    )

    def __post_init__(self) -> None:
        if self.master and self.local:
            raise BadInput(f"--master {self.master} and --local {self.local} exclude each other")

    def arguments(self, groups: Mapping[str, Any], explicit: frozenset[str]) -> dict[str, Any]:
        """Return the arguments of explicitly set options, in the form of ``settings.merge``.

        ``groups`` are the groups of options by name. Raises BadInput for a ceiling above
        ``--local``.
        """
        from rheostat.kafka.client import client_config
        from rheostat.settings import GROUPS

        given = {
            name: getattr(self, name) for name in {"policy", "slo", "priority", "price"} & explicit
        }
        if "parameters" in explicit:
            given["parameters"] = pairs(self.parameters or ())
        if self.journal:
            given["journal"] = self.journal
        if self.kafka:
            given["kafka"] = client_config(self.kafka)
        for name, group in groups.items():
            names = {item.name for item in fields(group)} & explicit
            own = {item: getattr(group, item) for item in names}
            given |= {name: own} if own and name in GROUPS else own
        return {**given, "limits": self._limits(explicit)}

    def _limits(self, explicit: frozenset[str]) -> dict[str, int]:
        limits = {"min": self.minimum} if "minimum" in explicit else {}
        if self.maximum is not None and self.local and self.maximum > self.local:
            raise BadInput(
                f"--max {self.maximum} does not fit into a local cluster with room for"
                f" {self.local}; raise --local or lower --max"
            )
        ceiling = self.local if self.maximum is None else self.maximum
        return limits if ceiling is None else {**limits, "max": ceiling}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """Output of the command in addition to that of the script."""

    show_settings: bool = option(
        False,
        "print the Spark settings that would apply, including yours, without running the script",
        flag="--show-settings",
    )
    as_json: bool = option(
        False,
        "at the end one line of JSON on standard error (standard output is the script's): exit"
        " code, policy, limits, and of every application its journal, rescalings and slot-hours;"
        " with --show-settings JSON in place of its text",
        flag="--json",
    )
    out: Path | None = option(
        None, "write the same JSON to this file, first when the script starts"
    )


def write_report(
    request: Request,
    applications: Sequence[Application],
    exit_code: int | None,
    as_json: bool,
    out: Path | None,
) -> None:
    """Write the report to a file, standard error, or both; ``exit_code`` is None while running."""
    if not (as_json or out):
        return
    text = json.dumps(report(request, applications, exit_code), allow_nan=False)
    if out:
        write_out(out, [text])
    if as_json:
        sys.stderr.write(text + "\n")


def report(
    request: Request, applications: Sequence[Application], exit_code: int | None
) -> dict[str, Any]:
    """Return the report as plain values, without Kafka's configuration, which can hold secrets."""
    settings = request.settings
    return {
        "script": str(request.script),
        "exit_code": exit_code,
        "policy": settings.policy_name,
        "parameters": dict(settings.parameters),
        "slo_s": settings.slo.latency_s,
        "limits": {**_limits(settings.limits), "min": settings.least_executors},
        "shadow": request.shadow,
        "applications": [_application(application) for application in applications],
    }


def _application(application: Application) -> dict[str, Any]:
    records = [
        record for record in read(application.handle.journal) if record.t_s >= application.since_s
    ]
    seconds = executor_seconds(records)
    return {
        "application": application.id,
        "journal": str(application.handle.journal.resolve()),
        "limits": _limits(application.limits),
        "scales": application.handle.capabilities.can_scale,
        "cannot": list(application.handle.capabilities.cannot),
        "decisions": len(records),
        "rescalings": len(rescalings(records)),
        "slot_hours": None if seconds is None else seconds * application.slots_per_executor / 3600,
    }


def executor_seconds(records: Sequence[Record]) -> float | None:
    """Return the executor-seconds of the records; None if no executor count is known."""
    intervals = [
        (late.t_s - early.t_s) * early.observation.executors
        for early, late in pairwise(records)
        if early.observation and early.observation.executors is not None
    ]
    return sum(intervals) if intervals else None


def _limits(limits: Limits) -> dict[str, int]:
    return {"min": limits.min_executors, "max": limits.max_executors}


def run_supervised(
    request: Request, arguments: list[str], restarts: RestartOptions, output: OutputOptions
) -> int:
    """Supervise the job, or run it if a supervisor has started this process; raises BadInput for
    options that exclude restarts.
    """
    from rheostat.journal.control_channel import VARIABLE

    # Remove it, so that processes that the script starts are not mistaken for a supervised job.
    folder = os.environ.pop(VARIABLE, None)
    if folder:
        return _job(request, arguments, output, Path(folder))
    return _supervisor(request, restarts)


def _supervisor(request: Request, restarts: RestartOptions) -> int:
    from rheostat.restart.supervised import journal_of_script, supervise

    if request.shadow:
        raise BadInput("--shadow and --actuator restart exclude each other")
    if request.settings.releases:
        raise BadInput("--min 0 needs live rescaling; with --actuator restart use --min 1 or more")
    journal = request.settings.journal or journal_of_script(request.script)
    if isinstance(journal, str):
        raise BadInput(f"--actuator restart keeps its journal in a local folder, not in {journal}")
    settings = replace(request.settings, journal=journal.resolve())
    initial = plan(replace(request, settings=settings), {}).initial
    with orderly_end():
        return supervise(sys.argv[1:], settings.limits, restarts, journal.resolve(), initial)


def _job(request: Request, arguments: list[str], output: OutputOptions, folder: Path) -> int:
    from rheostat.journal.control_channel import ControlChannel
    from rheostat.spark.launching import run_script
    from rheostat.spark.restarting import OneBatch, own_report

    channel = ControlChannel(folder)
    order = channel.order()
    if order is None:
        raise BadInput(f"{folder} has no order of a supervisor")
    channel.write_report(own_report(order.run))
    settings = replace(request.settings, journal=folder.parent, restarts=folder)
    request, batches = replace(request, settings=settings, cli=None, order=order), OneBatch()
    with orderly_end(with_parent=True), ExitStack() as stack:
        if order.once:
            stack.enter_context(batches.installed())
        around = stack.enter_context(AppRun(request, batches))
        code = run_script(request.script, arguments, around)
    write_report(request, around.applications, code, output.as_json, output.out)
    return code


OPTION_GROUPS: Mapping[str, type[Any]] = {
    "options": RunOptions,
    "output": OutputOptions,
    "loop": LoopOptions,
    "restarts": RestartOptions,
    "state": StateOptions,
    "guards": GuardOptions,
    "retention": JournalOptions,
    "serve": ServeOptions,
    "export": ExportOptions,
}
"""The options of the command, in the order of its help."""


@takes(**OPTION_GROUPS)
def run(
    context: typer.Context,
    script: Annotated[Path, typer.Argument(help="The PySpark script.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments of the script, after --.")
    ] = None,
    *,
    options: RunOptions,
    output: OutputOptions,
    restarts: RestartOptions,
    **groups: Any,
) -> int:
    """Run an unchanged PySpark script and autoscale it live; the exit code is the script's.

    If no master is configured, a Spark Standalone cluster runs on this computer as long as the
    script. Your Spark settings are kept: those in spark-defaults.conf, PYSPARK_SUBMIT_ARGS, the
    environment and the script itself; settings spark.rheostat.* are defaults of these options. A
    file STOP in the journal's folder stops the autoscaler within one tick; the script keeps
    running.

    With --actuator restart, the size changes by restarts of the script, for sessions that cannot be
    scaled live; rheostat restart lists them and requests one.

    Example: rheostat run --min 1 --max 8 --slo 5 --kafka localhost:9092 app.py -- --my-option 7
    """
    request = request_of(script, options, options.arguments(groups, explicit_options(context)))
    if restarts.actuator == "restart" and not output.show_settings:
        return run_supervised(request, arguments or [], restarts, output)
    return execute(request, arguments or [], output)


def execute(request: Request, arguments: list[str], output: OutputOptions) -> int:
    """Run the script or show the settings; return the exit code."""
    if output.show_settings:
        planned = plan(request, {})
        low = 0 if request.settings.releases else planned.limits.min_executors
        emit(_plan_json(planned, low), output.as_json, output.out, lambda: _show_plan(planned, low))
        return 0
    from rheostat.spark.launching import run_script

    with orderly_end(), AppRun(request) as around:
        if output.out:
            write_report(around.request, around.applications, None, False, output.out)
        code = run_script(request.script, arguments, around)
    write_report(around.request, around.applications, code, output.as_json, output.out)
    return code


def _plan_json(planned: Plan, low: int) -> dict[str, Any]:
    return {
        "settings": [
            {
                "name": row.name,
                "value": row.value,
                "from": row.origin or "rheostat",
                "set": row.sets,
                "wanted": row.wanted,
                "why": row.why,
            }
            for row in planned.rows
        ],
        "limits": {**_limits(planned.limits), "min": low},
        "messages": [*planned.lines, *planned.forbidden],
    }


def _show_plan(planned: Plan, low: int) -> None:
    for row in planned.rows:
        origin = f"{row.origin} and rheostat" if row.origin and row.sets else row.origin
        typer.echo(f"{row.name} = {row.value}\n    {origin or 'rheostat'}: {row.why}")
    for line in ("", *planned.lines, *planned.forbidden):
        typer.echo(line)
    typer.echo(
        f"{low} to {planned.limits.max_executors} executors. Settings of the script's own builder"
        " are known only when it runs; they override all of these."
    )


def request_of(script: Path, options: RunOptions, cli: Mapping[str, Any]) -> Request:
    """Return the request of a command line; raises BadInput for unusable values."""
    from rheostat.clusters.scaling_settings import Given
    from rheostat.local.user_settings import settings_of_user
    from rheostat.spark.internals.gateway import submitted

    if not script.is_file():
        raise BadInput(f"there is no script {script}")
    submit = {name: Given(value, "spark-submit") for name, value in submitted().items()}
    given = {**settings_of_user(os.environ), **submit}
    return Request(
        script=script,
        settings=settings_for(script, {name: value.value for name, value in given.items()}, cli),
        cli=cli,
        shadow=options.shadow,
        master=options.master,
        local=options.local,
        given=given,
    )
