"""``rheostat demo --operator``: the day sized by Kubernetes' HPA, then by one of our policies."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rheostat_lab.demo.demo_options import Demo


def demo_operator(demo: Demo, as_json: bool, end_with_parent: bool) -> int:
    """Show both days; return 0 only if the output of both is exact."""
    from rich.console import Console

    from rheostat.machine.orderly_end import orderly_end
    from rheostat_lab.demo import results_folder as results
    from rheostat_lab.demo.live_view import open_view
    from rheostat_lab.operated.days_report import days_table
    from rheostat_lab.operated.operated_demo import check_operated, perform_operated
    from rheostat_lab.report.summary import to_json

    wanted = replace(demo, cluster="kubernetes")
    check_operated(wanted.out)
    console = Console(highlight=False, stderr=as_json)
    view = open_view("Rheostat on Kubernetes", wanted.max_executors, wanted.slo.latency_s, console)
    with orderly_end(end_with_parent), view:
        days = perform_operated(wanted, view)
        view.finish(days_table(days))
    report, plot = wanted.out / results.REPORT, wanted.out / results.PLOT
    typer.echo(
        f"report: {report}   plot: {plot}   numbers: {wanted.out / results.SUMMARY}", err=as_json
    )
    if as_json:
        summaries = {day.way: to_json(day.summary) for day in days}
        typer.echo(json.dumps(summaries, indent=2))
    return 0 if all(day.summary.exact for day in days) else 1
