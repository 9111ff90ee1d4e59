"""The thesis' plots: latency against executors, and the telemetry of single runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.thesis.closed_loop import Outcome, run_cell
from rheostat_lab.thesis.recordings import SAMPLE_S, Recorded, load_recording
from rheostat_lab.thesis.statistics import by_cell, of
from rheostat_lab.thesis.thesis_runs import Cell

_COLOURS = {
    "HPA": "tab:blue",
    "Vargav1": "tab:orange",
    "Vargav2": "tab:green",
    "Dhalion-adapted": "tab:red",
    "DS2-modern": "tab:purple",
    "DS2-modern-adapted": "tab:brown",
}
_ZOOM_S = 30.0
_TELEMETRY = (
    ("1", "HPA", "70"),
    ("3", "HPA", "70"),
    ("11", "HPA", "70"),
    ("1", "Vargav1", "50"),
    ("1", "DS2-modern", "00"),
)
_PANELS = (
    "input (rows/s)",
    "executors",
    "lag (rows)",
    "latency (s)",
    "CPU",
    "busy",
    "idle",
    "backpressure",
)


def plot_all(
    folder: Path, outcomes: Sequence[Outcome], cells: Sequence[Cell], jobs: Mapping[str, FlinkJob]
) -> list[Path]:
    """Write the scatter plots of the queries that were run and the telemetry of some of their runs;
    return the files.
    """
    paths = []
    for query in dict.fromkeys(outcome.query for outcome in outcomes):
        paths += [scatter(folder, query, outcomes, zoomed) for zoomed in (False, True)]
    return paths + [
        telemetry(folder, cell, jobs[cell.query])
        for cell in cells
        if (cell.query, cell.policy, cell.parameter) in _TELEMETRY
    ]


def scatter(folder: Path, query: str, outcomes: Sequence[Outcome], zoomed: bool) -> Path:
    """Plot median latency against median executors, with bars from the 5th to the 95th percentile
    of the seeds and hollow published values.
    """
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for (of_query, policy, parameter), runs in by_cell(outcomes).items():
        if of_query == query:
            _point(axes, policy, parameter, runs)
    axes.set(
        xlabel="executors (mean)",
        ylabel="latency (mean, s)",
        title=f"Query {query}: simulated (filled) and published (hollow)",
    )
    if zoomed:
        axes.set_ylim(0, _ZOOM_S)
    else:
        axes.set_yscale("log")
    handles = [
        axes.scatter([], [], color=colour, label=policy) for policy, colour in _COLOURS.items()
    ]
    axes.legend(handles=handles, fontsize=8)
    return _saved(figure, folder / f"thesis-q{query}{'-zoomed' if zoomed else ''}.png")


def telemetry(folder: Path, cell: Cell, job: FlinkJob, seed: int = 0) -> Path:
    """Plot the thesis' eight panels for one simulated run, over the recorded run if any."""
    samples = run_cell(cell, job, seed).samples
    observations = [sample.observation for sample in samples]
    columns = (
        [sample.input_rows_per_s for sample in samples],
        [sample.executors for sample in samples],
        [sample.lag_rows for sample in samples],
        [sample.latency_s for sample in samples],
        [o.cpu for o in observations],
        [o.busy for o in observations],
        [o.idle for o in observations],
        [
            None if o.backpressure_ms_per_s is None else o.backpressure_ms_per_s / 1000
            for o in observations
        ],
    )
    recorded = _recorded(load_recording(cell.recording)) if cell.recording else None
    figure = Figure(figsize=(11, 9), layout="constrained")
    panels = figure.subplots(4, 2, sharex=True)
    minutes = np.arange(len(samples)) * SAMPLE_S / 60
    for index, (axes, title) in enumerate(zip(panels.T.flat, _PANELS, strict=True)):
        if recorded is not None:
            axes.plot(
                minutes[: len(recorded[index])],
                recorded[index],
                color="0.6",
                linewidth=1,
                label="recorded",
            )
        axes.plot(
            minutes,
            [np.nan if value is None else value for value in columns[index]],
            linewidth=1,
            label="simulated",
        )
        axes.set_title(title, fontsize=9)
    panels.flat[0].legend(fontsize=8)
    figure.suptitle(f"Query {cell.query}, {cell.policy} {cell.parameter}")
    figure.supxlabel("minutes")
    return _saved(
        figure, folder / f"thesis-telemetry-q{cell.query}-{cell.policy}-{cell.parameter}.png"
    )


def _point(axes: Any, policy: str, parameter: str, runs: Sequence[Outcome]) -> None:
    colour = _COLOURS[policy]
    middle = {
        measure: float(np.median(of(runs, measure))) for measure in ("executors", "latency_s")
    }
    spans = {measure: _span(of(runs, measure), middle[measure]) for measure in middle}
    x, y = middle["executors"], middle["latency_s"]
    axes.errorbar(
        x,
        y,
        xerr=spans["executors"],
        yerr=spans["latency_s"],
        fmt="o",
        color=colour,
        alpha=0.8,
        linewidth=0.8,
    )
    axes.annotate(
        parameter,
        (x, y),
        fontsize=7,
        xytext=(3, 3),
        textcoords="offset points",
        annotation_clip=True,
    )
    axes.scatter(
        runs[0].published_executors,
        runs[0].published_latency_s,
        facecolors="none",
        edgecolors=colour,
    )


def _span(values: Any, middle: float) -> Any:
    low, high = np.quantile(values, [0.05, 0.95])
    return [[max(0.0, middle - low)], [max(0.0, high - middle)]]


def _recorded(read: Recorded) -> tuple[Any, ...]:
    return (
        read.input_rows_per_s,
        read.executors,
        read.lag_rows,
        read.latency_s,
        read.cpu,
        read.busy,
        read.idle,
        read.pressure,
    )


def _saved(figure: Figure, path: Path) -> Path:
    figure.savefig(path, dpi=110)
    return path
