"""Figures of runs as in the source: latency against executors, and telemetry over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib import colormaps

from rheostat.model import Observation
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.svg_picture import picture

_ZOOM = 2.0
_WIDTH_IN, _HEIGHT_IN = 8, 5
_POINTS = 250
"""Largest number of points of a line: more are not visible, and files would be larger."""

PANELS: Mapping[str, Callable[[Observation], float | None]] = {
    "input (rows/s)": lambda now: now.input_rows_per_s,
    "executors": lambda now: now.executors,
    "lag (rows)": lambda now: now.lag_rows,
    "latency (s)": lambda now: now.latency_s,
    "CPU per slot": lambda now: now.cpu,
    "busy": lambda now: now.busy,
    "idle": lambda now: None if now.busy is None else 1 - now.busy,
    "batch over trigger": lambda now: (
        now.batch_s / now.trigger_s if now.batch_s is not None and now.trigger_s else None
    ),
}
"""The source's eight panels. A batch that takes longer than its trigger takes the place of
backpressure, which micro-batches do not have."""


def scatter(path: Path, runs: Sequence[PlayedRun], slo_s: float) -> list[Path]:
    """Write ``path``.svg, and ``path``-zoomed.svg up to twice the objective; hollow marks are runs
    that missed the objective. Nothing is written without runs.
    """
    known = [run for run in runs if run.latency_mean_s is not None and run.executors_mean]
    colors = {policy: i for i, policy in enumerate(dict.fromkeys(run.policy for run in known))}
    paths = []
    for zoomed in (False, True) if known else ():
        paths.append(path.with_name(f"{path.name}{'-zoomed' if zoomed else ''}.svg"))
        with picture(paths[-1], _WIDTH_IN, _HEIGHT_IN) as figure:
            axes = figure.subplots()
            for policy, number in colors.items():
                _points(axes, policy, [run for run in known if run.policy == policy], number)
            axes.axhline(slo_s, color="0.4", linewidth=1, linestyle=":")
            axes.set(xlabel="executors, mean", ylabel="latency, mean (s)")
            if zoomed:
                axes.set_ylim(0, _ZOOM * slo_s)
            axes.legend(fontsize=6)
    return paths


def telemetry(path: Path, runs: Mapping[str, Sequence[Observation]]) -> None:
    """Write the eight panels of some runs, by their names, over the seconds of the run."""
    with picture(path, _WIDTH_IN, 1.8 * _HEIGHT_IN) as figure:
        panels = figure.subplots(4, 2, sharex=True)
        for axes, (title, value) in zip(panels.flat, PANELS.items(), strict=True):
            for name, observed in runs.items():
                shown = observed[:: 1 + len(observed) // _POINTS]
                values = [value(now) for now in shown]
                line = [float("nan") if known is None else known for known in values]
                axes.plot([now.t_s for now in shown], line, linewidth=0.8, label=name)
            axes.set_title(title, fontsize=9)
            axes.set_ylim(bottom=0)
        panels.flat[0].legend(fontsize=6)
        figure.supxlabel("seconds")


def _points(axes: Any, policy: str, runs: Sequence[PlayedRun], number: int) -> None:
    for attained in (True, False):
        points = [run for run in runs if run.attained == attained]
        if points:
            axes.plot(
                [run.executors_mean for run in points],
                [run.latency_mean_s for run in points],
                "o" if number < 20 else "s",
                color=colormaps["tab20"](number % 20),
                markerfacecolor=None if attained else "none",
                label=policy if attained else f"{policy} (objective missed)",
            )
