"""The plot of several days over one time axis: their load, and executors and latency of each."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.latency_shares import quantile_s
from rheostat_lab.report.plot_theme import LIGHT, Theme
from rheostat_lab.report.rows_over_time import arrived
from rheostat_lab.report.run_plot import clock
from rheostat_lab.report.sizes_over_time import registered
from rheostat_lab.report.summary import batch_latencies

_BIN_S = 2.0
_SIZE_IN = (9.0, 6.6)
Named = tuple[str, Run]


def draw_png(days: Sequence[Named], path: Path) -> None:
    """Write the plot of these days, each with its name, as a PNG that is 1350 pixels wide."""
    path.parent.mkdir(parents=True, exist_ok=True)
    FigureCanvasAgg(figure(days, LIGHT)).print_png(path)


def svg(days: Sequence[Named], theme: Theme) -> bytes:
    """Return the plot as an SVG without external references."""
    out = io.BytesIO()
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "rheostat"}):
        figure(days, theme).savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def figure(days: Sequence[Named], theme: Theme) -> Figure:
    """Return the plot."""
    drawn = Figure(figsize=_SIZE_IN, dpi=150, facecolor=theme.paper, layout="constrained")
    shown = (
        ("Load: rows per second", _load),
        ("Executors registered", _size),
        (f"Latency of 99 % of rows, seconds; objective {days[0][1].slo.latency_s:g} s", _latency),
    )
    for number, (title, draw) in enumerate(shown, 1):
        panel = drawn.add_subplot(len(shown), 1, number)
        _dress(panel, title, theme)
        draw(panel, days, theme)
        panel.set_xlim(0, max(run.duration_s for _, run in days))
    drawn.axes[1].legend(loc="upper left", frameon=False, fontsize=9, labelcolor=theme.ink)
    drawn.axes[-1].set_xlabel("minutes:seconds since the start", color=theme.faint, fontsize=9)
    return drawn


def _colours(theme: Theme) -> tuple[str, ...]:
    return (theme.load, theme.size, theme.late)


def _load(panel: Any, days: Sequence[Named], theme: Theme) -> None:
    """Draw the load of the first day, because all days have the same."""
    run = days[0][1]
    edges = np.append(np.arange(0, run.duration_s, _BIN_S), run.duration_s)
    rates = np.diff(arrived(run, edges + run.start_s)) / np.diff(edges)
    panel.plot((edges[:-1] + edges[1:]) / 2, rates, color=theme.ink, linewidth=1.8)
    panel.set_ylim(bottom=0)


def _size(panel: Any, days: Sequence[Named], theme: Theme) -> None:
    for (name, run), colour in zip(days, _colours(theme), strict=False):
        steps = registered(run)
        times = [time - run.start_s for time in steps.times_s]
        panel.stairs(steps.counts, times, baseline=None, color=colour, linewidth=2, label=name)
    most = max(max(registered(run).counts, default=1) for _, run in days)
    panel.set_ylim(0, 1.45 * most)  # with room for the legend
    panel.yaxis.set_major_locator(MaxNLocator(5, integer=True))


def _latency(panel: Any, days: Sequence[Named], theme: Theme) -> None:
    for (_, run), colour in zip(days, _colours(theme), strict=False):
        known = [
            (batch.commit_s - run.start_s, quantile_s(spreads, 0.99) or 0.0)
            for batch, spreads in zip(run.batches, batch_latencies(run), strict=True)
            if spreads
        ]
        times, tails = np.array(known).T if known else np.zeros((2, 0))
        panel.plot(times, tails, color=colour, linewidth=1.4)
    objective_s = days[0][1].slo.latency_s
    panel.axhline(objective_s, color=theme.late, linewidth=1.1, linestyle=(0, (5, 3)))
    panel.set_ylim(0, 1.1 * max(float(panel.dataLim.y1), 1.1 * objective_s))


def _dress(panel: Any, title: str, theme: Theme) -> None:
    panel.set_facecolor(theme.paper)
    panel.set_title(title, loc="left", color=theme.ink, fontsize=11, fontweight="bold")
    panel.grid(axis="y", color=theme.grid, linewidth=0.8)
    panel.set_axisbelow(True)
    panel.spines[["top", "right", "left"]].set_visible(False)
    panel.spines["bottom"].set_color(theme.grid)
    panel.tick_params(colors=theme.faint, labelsize=9, length=0, pad=5)
    panel.xaxis.set_major_formatter(FuncFormatter(clock))
    panel.xaxis.set_major_locator(MaxNLocator(9, steps=(1, 2, 3, 6, 10), integer=True))
