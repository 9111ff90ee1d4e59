"""``rheostat demo``: the main job, in one command."""

from __future__ import annotations

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
    policy: Annotated[str, typer.Option(help="Policy that decides.")] = "measured-throughput",
    minimum: Annotated[int, typer.Option("--min", help="Floor of the number of executors.")] = 1,
    maximum: Annotated[int, typer.Option("--max", help="Ceiling of the number of executors.")] = 8,
    service_ms: Annotated[
        float, typer.Option(help="Wait per bid, standing for a call to an outside system.")
    ] = 2.0,
    seed: Annotated[int, typer.Option(help="Seed of the bids and of the load's noise.")] = 7,
    out: Annotated[
        Path, typer.Option(help="Folder of report.html, plot.png, summary.json and the journal.")
    ] = Path("out/demo"),
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
    from rheostat.lab.demo.demo_run import Demo, perform
    from rheostat.lab.demo.live_view import open_view
    from rheostat.lab.demo.result_text import printed
    from rheostat.machine.signals import orderly_end
    from rheostat.policies.registry import create

    wanted = Demo(
        query=query,
        seconds=seconds,
        policy=policy,
        min_executors=minimum,
        max_executors=maximum,
        service_ms=service_ms,
        seed=seed,
        guards=guards,
        out=out,
    )
    create(policy, None, wanted.slo)
    with orderly_end(end_with_parent), open_view("Rheostat", maximum, wanted.slo_s) as view:
        run, summary = perform(wanted, view, full)
        view.finish(printed(run.title, summary))
    typer.echo(
        f"report: {out / 'report.html'}   plot: {out / 'plot.png'}   numbers:"
        f" {out / 'summary.json'}"
    )
    return 0 if summary.exact else 1
