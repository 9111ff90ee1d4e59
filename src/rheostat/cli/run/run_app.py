"""``rheostat run``: runs an unchanged PySpark script with the autoscaler."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.options.options import explicit_options, takes
from rheostat.cli.output import write_out
from rheostat.cli.run.run_options import OutputOptions, RunOptions
from rheostat.config import (
    ExportOptions,
    GuardOptions,
    JournalOptions,
    LoopOptions,
    RestartOptions,
    ServeOptions,
    StateOptions,
)
from rheostat.errors import BadInput
from rheostat.journal.folder import read
from rheostat.journal.rescalings import rescalings
from rheostat.local.app_run import Application, Request
from rheostat.machine.orderly_end import orderly_end
from rheostat.model import Limits, Record

if TYPE_CHECKING:
    from rheostat.clusters.run_settings import Plan
    from rheostat.local.app_run import Request


def hand_out(
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
        "limits": _limits(settings.limits),
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
    from rheostat.local.app_run import plan
    from rheostat.restart.supervised import journal_of_script, supervise

    if request.shadow:
        raise BadInput("--shadow and --actuator restart exclude each other")
    journal = request.settings.journal or journal_of_script(request.script)
    if isinstance(journal, str):
        raise BadInput(f"--actuator restart keeps its journal in a local folder, not in {journal}")
    settings = replace(request.settings, journal=journal.resolve())
    initial = plan(replace(request, settings=settings), {}).initial
    with orderly_end():
        return supervise(sys.argv[1:], settings.limits, restarts, journal.resolve(), initial)


def _job(request: Request, arguments: list[str], output: OutputOptions, folder: Path) -> int:
    from rheostat.journal.control_channel import ControlChannel
    from rheostat.local.app_run import AppRun
    from rheostat.spark.launching import run_script
    from rheostat.spark.restarting import OneBatch, own_report

    channel = ControlChannel(folder)
    order = channel.order()
    if order is None:
        raise BadInput(f"{folder} has no order of a supervisor")
    channel.write_report(own_report(order.run))
    settings = replace(request.settings, journal=folder.parent, restarts=folder)
    request, batches = (
        replace(request, settings=settings, cli=None, order=order),
        OneBatch(),
    )
    with orderly_end(with_parent=True), ExitStack() as stack:
        if order.once:
            stack.enter_context(batches.installed())
        around = stack.enter_context(AppRun(request, batches))
        code = run_script(request.script, arguments, around)
    hand_out(request, around.applications, code, output.as_json, output.out)
    return code


BUILDER = (
    "Settings of the script's own builder are known only when it runs; they override all of these."
)


@takes(
    options=RunOptions,
    output=OutputOptions,
    loop=LoopOptions,
    restarts=RestartOptions,
    state=StateOptions,
    guards=GuardOptions,
    retention=JournalOptions,
    serve=ServeOptions,
    export=ExportOptions,
)
def run(
    context: typer.Context,
    script: Annotated[Path, typer.Argument(help="The PySpark script.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Its own arguments, after --.")
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
        _show_settings(request, output)
        return 0
    return _run(request, arguments, output)


def _show_settings(request: Request, output: OutputOptions) -> None:
    """Print each setting with its effective value, its origin, and why Rheostat wants it."""
    from rheostat.cli.output import emit
    from rheostat.local.app_run import plan

    planned = plan(request, {})
    emit(_plan_json(planned), output.as_json, output.out, lambda: _show_plan(planned))


def _plan_json(planned: Plan) -> dict[str, Any]:
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
        "limits": {"min": planned.limits.min_executors, "max": planned.limits.max_executors},
        "said": [*planned.lines, *planned.forbidden],
    }


def _show_plan(planned: Plan) -> None:
    for row in planned.rows:
        origin = f"{row.origin} and rheostat" if row.origin and row.sets else row.origin
        typer.echo(f"{row.name} = {row.value}\n    {origin or 'rheostat'}: {row.why}")
    for line in ("", *planned.lines, *planned.forbidden):
        typer.echo(line)
    low, high = planned.limits.min_executors, planned.limits.max_executors
    typer.echo(f"{low} to {high} executors. {BUILDER}")


def request_of(script: Path, options: RunOptions, cli: Mapping[str, Any]) -> Request:
    """Return the request of a command line; raises BadInput for unusable values."""
    import os

    from rheostat.clusters.scaling_settings import Given
    from rheostat.local.app_run import Request, settings_for
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


def _run(request: Request, arguments: list[str], output: OutputOptions) -> int:
    from rheostat.local.app_run import AppRun
    from rheostat.spark.launching import run_script

    with orderly_end(), AppRun(request) as around:
        if output.out:
            hand_out(around.request, around.applications, None, False, output.out)
        code = run_script(request.script, arguments, around)
    hand_out(around.request, around.applications, code, output.as_json, output.out)
    return code
