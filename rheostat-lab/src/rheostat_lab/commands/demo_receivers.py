"""``rheostat demo --receivers``: a push load into a fleet of receivers."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from rheostat.config import GuardOptions


def demo_receivers(
    seconds: float, guards: GuardOptions, out: Path, as_json: bool, end_with_parent: bool
) -> int:
    """Show receivers and executors that follow a push load; return 0 only if each acknowledged
    record was output exactly once.
    """
    from rich.console import Console

    from rheostat.machine.orderly_end import orderly_end
    from rheostat_lab.demo import results_folder as results
    from rheostat_lab.demo.live_view import open_view
    from rheostat_lab.push.push_demo import perform_push
    from rheostat_lab.push.push_options import PushDemo
    from rheostat_lab.report.result_text import printed
    from rheostat_lab.report.summary import to_json

    wanted = PushDemo(seconds=seconds, guards=guards, out=out)
    results.check(out)
    console = Console(highlight=False, stderr=as_json)
    most, slo_s = wanted.limits.max_executors, wanted.slo.latency_s
    view = open_view("Rheostat: receivers", most, slo_s, console)
    with orderly_end(end_with_parent), view:
        run, summary = perform_push(wanted, view)
        view.finish(printed(run.title, summary))
    detail = run.verdict.detail if run.verdict else ""
    typer.echo(f"{detail}\nreport: {out / results.REPORT}", err=as_json)
    if as_json:
        typer.echo(json.dumps(to_json(summary), indent=2))
    return 0 if summary.exact else 1
