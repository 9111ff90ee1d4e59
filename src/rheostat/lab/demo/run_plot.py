"""The picture of a run: load, executors and latency over one time axis."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from rheostat.lab.demo.finished_run import Run
from rheostat.lab.demo.result_text import headline
from rheostat.lab.demo.sizes_over_time import Steps, paid, registered
from rheostat.lab.demo.summary import Summary, batch_latencies
from rheostat.signals.latency import mean_s, quantile_s


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture."""

    paper: str
    ink: str
    faint: str
    grid: str
    load: str
    size: str
    late: str


LIGHT = Theme(
    paper="#ffffff",
    ink="#1f2933",
    faint="#7b8794",
    grid="#e4e7eb",
    load="#2f6f9f",
    size="#2f8f6b",
    late="#b4531f",
)
DARK = Theme(
    paper="#161b22",
    ink="#e6edf3",
    faint="#8b949e",
    grid="#2a313c",
    load="#79b8e8",
    size="#63c7a0",
    late="#f0a36b",
)

_BIN_S = 2.0


def draw_png(run: Run, summary: Summary, path: Path) -> None:
    """Write the picture as a PNG of 1650 x 1275 pixels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    FigureCanvasAgg(figure(run, summary, LIGHT)).print_png(path)


def svg(run: Run, summary: Summary, theme: Theme) -> bytes:
    """Return the picture as an SVG that refers to nothing outside it; the same run gives the same
    bytes.
    """
    out = io.BytesIO()
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "rheostat"}):
        figure(run, summary, theme).savefig(
            out, format="svg", metadata={"Date": None, "Creator": None}
        )
    return out.getvalue()


def figure(run: Run, summary: Summary, theme: Theme) -> Figure:
    """Return the picture: three panels, the marked ramp shaded in all of them."""
    drawn = Figure(figsize=(11, 8.5), dpi=150, facecolor=theme.paper)
    panels = drawn.subplots(3, 1, sharex=True, height_ratios=(1.05, 1, 1))
    drawn.subplots_adjust(left=0.085, right=0.87, top=0.875, bottom=0.07, hspace=0.32)
    drawn.text(
        0.027, 0.955, headline(run.title, summary), color=theme.ink, fontsize=15, fontweight="bold"
    )
    drawn.text(0.027, 0.926, _subtitle(run), color=theme.faint, fontsize=10.5)
    for panel, draw in zip(panels, (_load, _size, _late), strict=True):
        _dress(panel, theme)
        draw(panel, run, theme)
        _mark(panel, run, theme)

    panels[-1].set_xlim(0, run.duration_s)
    panels[-1].set_xlabel("time since the start", color=theme.faint, fontsize=9.5, loc="right")
    panels[-1].xaxis.set_major_formatter(FuncFormatter(_minutes))
    panels[-1].xaxis.set_major_locator(MaxNLocator(9, steps=(1, 2, 3, 6), integer=True))
    return drawn


def _subtitle(run: Run) -> str:
    return (
        f"{run.title} · {run.query} · policy {run.policy} · {run.limits.min_executors} to"
        f" {run.limits.max_executors} executors"
    )


def _load(panel: Any, run: Run, theme: Theme) -> None:
    edges = np.append(np.arange(0, run.duration_s, _BIN_S), run.duration_s)
    times, rows = zip(*run.curve, strict=True)
    arriving = _rate(edges, np.array(times) - run.start_s, np.array(rows))
    commits = [(batch.commit_s - run.start_s, batch.end_row) for batch in run.batches]
    committed = (
        _rate(
            edges,
            *(
                np.array(column)
                for column in zip(*[(0.0, run.batches[0].first_row), *commits], strict=True)
            ),
        )
        if commits
        else None
    )
    middles = (edges[:-1] + edges[1:]) / 2
    _title(panel, "Load", "rows per second", theme)
    if committed is not None:
        panel.plot(middles, committed, color=theme.load, linewidth=1, alpha=0.55)
    panel.plot(middles, arriving, color=theme.ink, linewidth=1.8)
    panel.set_ylim(
        0, 1.15 * float(max(arriving.max(), 1 if committed is None else committed.max()))
    )
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    if run.ramp:
        middle = (run.ramp.start_s + run.ramp.end_s) / 2 - run.start_s
        panel.text(
            middle,
            1.0,
            "steep ramp",
            transform=panel.get_xaxis_transform(),
            color=theme.faint,
            fontsize=9,
            ha="center",
            va="bottom",
        )
    _label(panel, 0.90, "arriving", theme.ink)
    _label(panel, 0.76, "committed", theme.load)


def _size(panel: Any, run: Run, theme: Theme) -> None:
    _title(panel, "Executors", "", theme)
    most = max(
        *registered(run).counts,
        *paid(run).counts,
        *(record.target or 0 for record in run.records),
        1,
    )
    _stairs(panel, run, paid(run), baseline=0, fill=True, color=theme.size, alpha=0.20, linewidth=0)
    _stairs(panel, run, registered(run), baseline=None, color=theme.size, linewidth=2)
    wanted = _wanted(run)
    if wanted:
        _stairs(
            panel, run, wanted, baseline=None, color=theme.ink, linewidth=1.2, linestyle=(0, (2, 2))
        )
    panel.set_ylim(0, most + 0.8)
    panel.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    _label(panel, 0.90, "wanted", theme.ink)
    _label(panel, 0.76, "registered", theme.size)
    _label(panel, 0.62, "paid for (area)", theme.size, alpha=0.75)


def _late(panel: Any, run: Run, theme: Theme) -> None:
    known = [
        (batch.commit_s - run.start_s, spreads)
        for batch, spreads in zip(run.batches, batch_latencies(run), strict=True)
        if spreads
    ]
    times = [time for time, _ in known]
    means, tails = (
        [mean_s(spreads) or 0.0 for _, spreads in known],
        [quantile_s(spreads, 0.99) or 0.0 for _, spreads in known],
    )
    objective = run.slo.latency_s
    _title(panel, "Latency of rows", "seconds, from append to commit, each batch", theme)
    panel.axhline(objective, color=theme.late, linewidth=1.1, linestyle=(0, (5, 3)))
    panel.fill_between(times, means, tails, color=theme.late, alpha=0.16, linewidth=0)
    panel.plot(times, tails, color=theme.late, linewidth=1.3)
    panel.plot(times, means, color=theme.ink, linewidth=1.3)
    most = max([*tails, objective])
    panel.yaxis.set_major_locator(MaxNLocator(5))
    if most > 6 * objective:
        panel.set_yscale("symlog", linthresh=objective)
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.set_ylim(0, 1.18 * most)
    panel.text(
        1.01,
        objective,
        f"objective {objective:g} s",
        transform=panel.get_yaxis_transform(),
        color=theme.late,
        fontsize=9.5,
        va="center",
    )
    top = 0.92 if objective < 0.65 * 1.18 * most else 0.42
    _label(panel, top, "99 % of rows", theme.late)
    _label(panel, top - 0.14, "mean", theme.ink)


def _rate(
    edges: NDArray[np.float64], times: NDArray[np.float64], rows: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return rows per second between edges of a count that is known at some times."""
    return np.diff(np.interp(edges, times, rows)) / np.diff(edges)


def _wanted(run: Run) -> Steps | None:
    """Return the target over time; None if there never was one."""
    targets = [
        (record.t_s, record.target)
        for record in run.records
        if record.target is not None and run.start_s <= record.t_s < run.end_s
    ]
    if not targets:
        return None
    times, counts = zip(*targets, strict=True)
    return Steps((*times, run.end_s), counts)


def _stairs(panel: Any, run: Run, steps: Steps, **how: Any) -> None:
    panel.stairs(steps.counts, [time - run.start_s for time in steps.times_s], **how)


def _dress(panel: Any, theme: Theme) -> None:
    panel.set_facecolor(theme.paper)
    panel.grid(axis="y", color=theme.grid, linewidth=0.8)
    panel.set_axisbelow(True)
    panel.spines[["top", "right", "left"]].set_visible(False)
    panel.spines["bottom"].set_color(theme.grid)
    panel.tick_params(colors=theme.faint, labelsize=9.5, length=0, pad=6, labelbottom=True)


def _mark(panel: Any, run: Run, theme: Theme) -> None:
    if run.ramp:
        panel.axvspan(
            run.ramp.start_s - run.start_s,
            run.ramp.end_s - run.start_s,
            color=theme.faint,
            alpha=0.16,
            linewidth=0,
            zorder=0.5,
        )


def _title(panel: Any, text: str, unit: str, theme: Theme) -> None:
    at = {"xycoords": "axes fraction", "textcoords": "offset points"}
    title = panel.annotate(
        text, (0, 1), xytext=(-46, 9), color=theme.ink, fontsize=11.5, fontweight="bold", **at
    )
    panel.annotate(
        unit,
        (1, 0),
        xytext=(6, 0),
        xycoords=title,
        textcoords="offset points",
        va="bottom",
        color=theme.faint,
        fontsize=9.5,
    )


def _label(panel: Any, height: float, text: str, color: str, alpha: float = 1.0) -> None:
    panel.text(
        1.01,
        height,
        text,
        transform=panel.transAxes,
        color=color,
        fontsize=9.5,
        va="center",
        alpha=alpha,
    )


def _minutes(seconds: float, _: int) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
