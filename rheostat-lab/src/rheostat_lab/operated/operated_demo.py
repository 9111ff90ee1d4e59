"""The same day sized by Kubernetes' HPA and by Rheostat's policy, in one report."""

from __future__ import annotations

import importlib.util
import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.machine.atomic_file import write_atomic
from rheostat.machine.missing_module import advice
from rheostat_lab.clusters.kubernetes import plane_build
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.demo.live_view import View
from rheostat_lab.demo.results_folder import (
    DRIVER_LOG,
    PLOT,
    REPORT,
    SUMMARY,
    check,
    cleared,
    publish,
)
from rheostat_lab.operated.days_plot import draw_png
from rheostat_lab.operated.days_report import Day, write_days
from rheostat_lab.operated.operated_day import OperatedDay, OperatorDemoEnvironment
from rheostat_lab.operated.operator_process import deploy_folder
from rheostat_lab.operated.sized_resource import HPA, WAYS, Shortened
from rheostat_lab.report.summary import summarize, to_json
from rheostat_lab.services.own_folder import claim

_SETUP_S = 60.0
_NEEDS = ("kopf", "kubernetes", "prometheus_client")


def check_operated(out: Path) -> None:
    """Raise BadInput for missing modules or manifests, or a foreign folder; changes nothing."""
    for name in _NEEDS:
        if importlib.util.find_spec(name) is None:
            raise BadInput(advice(name))
    deploy_folder()
    for folder in (out, *(out / way for way in WAYS)):
        check(folder)


def perform_operated(demo: Demo, view: View) -> list[Day]:
    """Play the day both ways, write a report of each and one of both, and return the days."""
    check_operated(demo.out)
    folder, shortened = claim(demo.out, "--out"), Shortened()
    view.note(demo.in_words())
    view.note(takes(demo))
    days = []
    with ExitStack() as stack:
        lab = OperatorDemoEnvironment(replace(demo, out=demo.out / WAYS[0]), view, stack, shortened)
        for way in WAYS:
            days.append(_played(lab, demo, way))
    write_days(days, shortened, folder.ours(REPORT))
    draw_png([(day.sizer, day.run) for day in days], folder.ours(PLOT))
    numbers = {day.way: to_json(day.summary) for day in days}
    write_atomic(folder.ours(SUMMARY), json.dumps(numbers, indent=2) + "\n")
    return days


def takes(demo: Demo) -> str:
    """Return a description of the expected duration."""
    minutes = len(WAYS) * (demo.total_s + _SETUP_S) / 60
    built = "" if plane_build.are_built() else f"; before it, {plane_build.TAKES}"
    return (
        f"the day is played {len(WAYS)} times, sized by Kubernetes' HPA and by {demo.sized_by}:"
        f" about {minutes:.0f} minutes{built}"
    )


def _played(lab: OperatorDemoEnvironment, demo: Demo, way: str) -> Day:
    lab.demo = replace(demo, out=demo.out / way)
    by = "Kubernetes' HPA with the metrics of Varga et al." if way == HPA else demo.sized_by
    lab.view.note(f"the day, sized by {by}")
    results, folder = cleared(lab.demo.out), lab.folder / way
    folder.mkdir()
    run = OperatedDay(lab, way, folder).play()
    # Both days use the same driver JVM, and its log is in the folder of the first one.
    run = replace(run, driver_log=demo.out / WAYS[0] / DRIVER_LOG)
    if way == HPA:
        run = replace(run, policy=f"{HPA}, decided by Kubernetes' HorizontalPodAutoscaler")
    summary = summarize(run)
    publish(run, summary, results)
    return Day(way=way, run=run, summary=summary)
