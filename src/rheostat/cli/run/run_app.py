"""``rheostat run``: an unchanged PySpark script with the autoscaler."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.options.options import explicit_options, takes
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
from rheostat.machine.orderly_end import orderly_end

if TYPE_CHECKING:
    from rheostat.clusters.run_settings import Plan
    from rheostat.local.app_run import Request


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

    If no master is set anywhere, a Spark Standalone cluster runs on this computer as long as the
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
        from rheostat.cli.run.supervised_run import run_supervised

        return run_supervised(request, arguments or [], restarts, output)
    return go(request, arguments or [], output)


def go(request: Request, arguments: list[str], output: OutputOptions) -> int:
    """Run the script, or show the settings, and return the exit code."""
    if output.show_settings:
        _show_settings(request, output)
        return 0
    return _run(request, arguments, output)


def _show_settings(request: Request, output: OutputOptions) -> None:
    """Print each setting with the value in force, its origin, and why Rheostat wants it."""
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

    from rheostat.clusters.static_settings import Given
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
    from rheostat.cli.run.run_report import hand_out
    from rheostat.local.app_run import AppRun
    from rheostat.spark.launching.launch import run_script

    with orderly_end(), AppRun(request) as around:
        if output.out:
            hand_out(around.request, around.applications, None, False, output.out)
        code = run_script(request.script, arguments, around)
    hand_out(around.request, around.applications, code, output.as_json, output.out)
    return code
