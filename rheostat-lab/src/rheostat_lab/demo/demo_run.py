"""The demo: a real Kafka load, a real Spark cluster, and the autoscaler between them."""

from __future__ import annotations

from contextlib import ExitStack

from rheostat_lab.demo.demo_environment import DemoEnvironment
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.demo.live_view import View
from rheostat_lab.demo.played_day import play
from rheostat_lab.demo.results_folder import cleared, publish
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.summary import Latency, Summary, latency, summarize


def perform(demo: Demo, view: View, full: bool = False) -> tuple[Run, Summary]:
    """Run the demo from the set-up to the report; with ``full`` also at fixed sizes."""
    folder = cleared(demo.out)
    view.note(demo.in_words())
    with ExitStack() as stack:
        lab = DemoEnvironment(demo, view, stack)
        run = play(lab, "autoscaled")
        summary = summarize(run, measured_baselines(lab, run) if full else None)
    publish(run, summary, folder)
    return run, summary


def measured_baselines(lab: DemoEnvironment, run: Run) -> dict[int, Latency]:
    """Play the day at the fixed maximum and the fixed mean of a run; return the latencies."""
    # A set, because one run is enough if the mean rounds up to the maximum.
    sizes = {baseline.executors for baseline in summarize(run).baselines}
    baselines = {}
    for size in sorted(sizes):
        lab.view.note(
            f"the same load at a fixed size of {size} executors ({lab.demo.total_s:g} seconds)"
        )
        baselines[size] = latency(play(lab, f"fixed{size}", size))
    return baselines
