"""The plots of the experiments, like Figures 2 to 5 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rheostat_lab.varga.line_fit import linear, places
from rheostat_lab.varga.outcome import LOADS, SNAPSHOTS, Row, of, points
from rheostat_lab.varga.spec import Spec

_COLOURS = ("#2f6f9f", "#b4531f", "#7b8794", "#4c8c4a")


def draw(spec: Spec, rows: Sequence[Row], path: Path) -> None:
    """Write the plot of a result as PNG."""
    figure = Figure(figsize=(6.4, 4.0), dpi=120)
    panel = figure.subplots()
    _PANELS[spec.experiment](panel, spec, rows)
    panel.set_ylim(bottom=0)
    panel.grid(alpha=0.3)
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=7)
    figure.tight_layout()
    FigureCanvasAgg(figure).print_png(path)


def _snapshot(panel: Any, spec: Spec, rows: Sequence[Row]) -> None:
    for tasks, colour in zip(spec.parallelism, _COLOURS, strict=False):
        for (y, name), marker in zip(SNAPSHOTS.items(), ("o", "x"), strict=True):
            if measured := points(of(rows, tasks), "size_mb", y):
                x, values = zip(*measured, strict=True)
                label = f"{name}, parallelism {tasks} (n {len(measured)})"
                panel.scatter(x, values, s=18, marker=marker, color=colour, label=label)
    panel.set_xlabel("state, MB")
    panel.set_ylabel("time of a snapshot, mean over tasks, s")


def _by_size(panel: Any, _: Spec, rows: Sequence[Row]) -> None:
    for (y, name), colour in zip(LOADS.items(), _COLOURS, strict=False):
        measured = points(rows, "size_mb", y)
        panel.scatter(*zip(*measured, strict=True), s=14, color=colour)
        if fit := linear(measured):
            ends = [min(x for x, _ in measured), max(x for x, _ in measured)]
            at = [fit.intercept + fit.slope * x for x in ends]
            panel.plot(ends, at, color=colour, label=f"{name}, R² {fit.r2:.3f}, n {fit.n}")
    panel.set_xlabel("state, MB")
    panel.set_ylabel("load time of a task, s")


def _by_parallelism(panel: Any, spec: Spec, rows: Sequence[Row]) -> None:
    for (y, name), colour in zip(LOADS.items(), _COLOURS, strict=False):
        for divides, marker in ((True, "o"), (False, "x")):
            own = [row for row in rows if (spec.partitions % row["parallelism"] == 0) is divides]
            if measured := points(own, "parallelism", y):
                what = "divisors" if divides else "others"
                x, values = zip(*measured, strict=True)
                label = f"{name}, {what} of {spec.partitions}"
                panel.scatter(x, values, s=18, marker=marker, color=colour, label=label)
    panel.set_xlabel("parallelism: tasks that share the state partitions")
    panel.set_ylabel("load time of a task, s")


def _downtime(panel: Any, spec: Spec, rows: Sequence[Row]) -> None:
    styles = ("-", "--", ":", "-.")
    for way, colour in zip(spec.ways, _COLOURS, strict=False):
        for size, style in zip(spec.sizes_mb, styles, strict=False):
            own = [row for row in rows if (row["way"], row["size_mb"]) == (way, size)]
            groups = places(points(own, "parallelism", "downtime_s"))
            if groups:
                n = sum(place.n for place in groups)
                panel.plot(
                    [place.x for place in groups],
                    [place.mean for place in groups],
                    marker="o",
                    linestyle=style,
                    color=colour,
                    label=f"{way}, {size} MB (n {n})",
                )
    panel.set_xticks(sorted(spec.parallelism))
    panel.set_xlabel("executors after the change")
    panel.set_ylabel("downtime, s")


_PANELS = {
    "snapshot": _snapshot,
    "load-by-size": _by_size,
    "load-by-parallelism": _by_parallelism,
    "downtime": _downtime,
}
