"""``rheostat demo``: the main job, in one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.options import takes
from rheostat.config import GuardOptions


@takes(guards=GuardOptions)
def demo(
    query: Annotated[
        str, typer.Option(help="Nexmark query: q1 (map) or q11 (session windows).")
    ] = "q1",
    full: Annotated[
        bool,
        typer.Option("--full", help="Play the same load at fixed sizes, too (8 minutes more)."),
    ] = False,
    seconds: Annotated[float, typer.Option(help="Length of the compressed day.")] = 240.0,
    days: Annotated[
        int, typer.Option(help="Days, one after the other; the second may be forecast.")
    ] = 1,
    policy: Annotated[
        str | None,
        typer.Option(
            help="Policy that decides. Default: measured-throughput; for several days predictive."
        ),
    ] = None,
    minimum: Annotated[int, typer.Option("--min", help="Floor of the number of executors.")] = 1,
    maximum: Annotated[int, typer.Option("--max", help="Ceiling of the number of executors.")] = 8,
    service_ms: Annotated[
        float, typer.Option(help="Wait per bid, standing for a call to an outside system.")
    ] = 2.0,
    seed: Annotated[int, typer.Option(help="Seed of the bids and of the load's noise.")] = 7,
    price_per_slot_hour: Annotated[
        float | None,
        typer.Option(help="Money for an hour of one slot, in any currency: show what it comes to."),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder of report.html, plot.png, summary.json and the journal.")
    ] = Path("out/demo"),
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the summary as JSON; progress goes to standard error."),
    ] = False,
    end_with_parent: Annotated[
        bool,
        typer.Option("--end-with-parent", hidden=True, help="End when the calling process does."),
    ] = False,
    *,
    guards: GuardOptions,
) -> int:
    """Show an autoscaled PySpark query on real Kafka: a day in four minutes, 1 to 8 real executors,
    the output checked.

    Exit code 0 only if the output is exact. Example: rheostat demo --query q11
    """
    from rich.console import Console

    from rheostat.lab.demo import results_folder as results
    from rheostat.lab.demo.demo_options import DAYS_POLICY, DEFAULT_POLICY, Demo
    from rheostat.lab.demo.demo_run import perform
    from rheostat.lab.demo.live_view import open_view
    from rheostat.lab.report.result_text import printed
    from rheostat.lab.report.summary import to_json
    from rheostat.machine.orderly_end import orderly_end

    wanted = Demo(
        query=query,
        seconds=seconds,
        days=days,
        policy=policy or (DEFAULT_POLICY if days == 1 else DAYS_POLICY),
        min_executors=minimum,
        max_executors=maximum,
        service_ms=service_ms,
        seed=seed,
        guards=guards,
        price_per_slot_hour=price_per_slot_hour,
        out=out,
    )
    results.check(out)
    console = Console(highlight=False, stderr=as_json)
    view = open_view("Rheostat", maximum, wanted.slo.latency_s, console)
    with orderly_end(end_with_parent), view:
        run, summary = perform(wanted, view, full)
        view.finish(printed(run.title, summary))
    typer.echo(
        f"report: {out / results.REPORT}   plot: {out / results.PLOT}   numbers:"
        f" {out / results.SUMMARY}   Spark's log: {out / results.DRIVER_LOG}",
        err=as_json,
    )
    if as_json:
        typer.echo(json.dumps(to_json(summary), indent=2))
    return 0 if summary.exact else 1
