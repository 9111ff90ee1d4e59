"""The plot of a run: load, executors, latency and their causes over one time axis."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from rheostat_lab.report import plot_panels as panels
from rheostat_lab.report.batch_parts import parts
from rheostat_lab.report.days import day_starts_s, ramps
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.misses import misses
from rheostat_lab.report.plot_theme import LIGHT, WIDE, Paper, Theme
from rheostat_lab.report.result_text import headline, slots
from rheostat_lab.report.summary import Summary

_LEFT_IN, _RIGHT_IN = 0.68, 0.24
_TITLE_IN, _LEGEND_IN, _TICKS_IN = 0.34, 0.2, 0.34
_SMALL = 9.0
"""Points of the smallest letters: 8 pixels if the wide plot is shown 640 pixels wide."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: title, unit, height without title and ticks, and drawing function."""

    title: str
    unit: str
    height_in: float
    draw: panels.Draw
    legend: int
    """Maximum number of entries of its legend."""


def draw_png(run: Run, summary: Summary, path: Path) -> None:
    """Write the plot as a PNG that is 1350 pixels wide, with the result as its title."""
    path.parent.mkdir(parents=True, exist_ok=True)
    FigureCanvasAgg(figure(run, LIGHT, WIDE, headline(run.title, summary))).print_png(path)


def shown(run: Run) -> list[Panel]:
    """Return the panels that have data, from top to bottom."""
    chosen = [
        Panel("Load", "rows per second", 1.5, panels.load, 4 if panels.has_forecast(run) else 2),
        Panel("Executors", "how many", 1.35, panels.size, 3),
        Panel("Latency of rows", "seconds from append to commit", 1.35, panels.latency, 3),
        Panel("Lag", "rows that wait", 1.0, panels.lag, 0),
    ]
    if run.receivers:
        chosen.insert(1, Panel("Receivers", "how many", 1.0, panels.receivers, 2))
    if parts(run.batches):
        chosen.append(Panel("Batch", "seconds, by Spark's parts", 1.2, panels.batch_parts, 7))
    if run.machine:
        chosen.append(Panel("This computer", "per core: 1 is all in use", 1.1, panels.machine, 3))
    return chosen


def figure(run: Run, theme: Theme, paper: Paper, title: str = "") -> Figure:
    """Return the plot, with a title if given; in all panels the marked ramp is grey, and the times
    in which rows waited longer than the objective are red.
    """
    head = _head(run, paper, title)
    rows = shown(run)
    height_in = _head_in(head) + sum(_height_in(row, paper) for row in rows) + 0.22
    drawn = Figure(figsize=(paper.width_in, height_in), dpi=150, facecolor=theme.paper)
    _write_head(drawn, head, theme)
    top_in = height_in - _head_in(head)
    for row in rows:
        _place(drawn, row, run, theme, paper, top_in)
        top_in -= _height_in(row, paper)
    drawn.axes[-1].set_xlabel(
        "minutes:seconds since the start", color=theme.faint, fontsize=_SMALL, loc="right"
    )
    return drawn


def _head(run: Run, paper: Paper, title: str) -> list[tuple[str, bool]]:
    """Return the lines above the panels; True: in large letters."""
    if not title:
        return []
    large = textwrap.wrap(title, paper.title_signs)
    small = textwrap.wrap(_subtitle(run), round(1.4 * paper.title_signs))
    return [*((line, True) for line in large), *((line, False) for line in small)]


def _head_in(head: list[tuple[str, bool]]) -> float:
    return 0.3 * len(head) + (0.12 if head else 0.0)


def _write_head(drawn: Figure, head: list[tuple[str, bool]], theme: Theme) -> None:
    for number, (line, large) in enumerate(head, 1):
        drawn.text(
            0.12 / drawn.get_figwidth(),
            1 - 0.3 * number / drawn.get_figheight(),
            line,
            color=theme.ink if large else theme.faint,
            fontsize=14 if large else 9.5,
            fontweight="bold" if large else "normal",
        )


def _subtitle(run: Run) -> str:
    return (
        f"{run.title} · policy {run.policy} · {run.limits.min_executors} to"
        f" {run.limits.max_executors} executors of {slots(run.slots_per_executor)}{_shades(run)}"
    )


def _shades(run: Run) -> str:
    ramp = " · grey: the steep ramp" if run.ramp else ""
    ramp += " · line: the next day begins" if run.day_s else ""
    return ramp + (" · red: rows waited too long" if misses(run) else "")


def _legend_rows(row: Panel, paper: Paper) -> int:
    return -(-row.legend // paper.legend_columns)


def _height_in(row: Panel, paper: Paper) -> float:
    return _TITLE_IN + _LEGEND_IN * _legend_rows(row, paper) + row.height_in + _TICKS_IN


def _place(drawn: Figure, row: Panel, run: Run, theme: Theme, paper: Paper, top_in: float) -> None:
    """Draw a panel whose upper edge is ``top_in`` inches above the plot's lower edge."""
    width_in, height_in = drawn.get_size_inches()
    low_in = top_in - _height_in(row, paper) + _TICKS_IN
    panel: Any = drawn.add_axes(
        (
            _LEFT_IN / width_in,
            low_in / height_in,
            (width_in - _LEFT_IN - _RIGHT_IN) / width_in,
            row.height_in / height_in,
        )
    )
    _dress(panel, theme)
    row.draw(panel, run, theme)
    _time_axis(panel, run, paper)
    _mark(panel, run, theme)
    _title(panel, row, theme, paper)


def _dress(panel: Any, theme: Theme) -> None:
    panel.set_facecolor(theme.paper)
    panel.grid(axis="y", color=theme.grid, linewidth=0.8)
    panel.set_axisbelow(True)
    panel.spines[["top", "right", "left"]].set_visible(False)
    panel.spines["bottom"].set_color(theme.grid)
    panel.tick_params(colors=theme.faint, labelsize=_SMALL, length=0, pad=5)
    panel.tick_params(axis="x", pad=7)


def _time_axis(panel: Any, run: Run, paper: Paper) -> None:
    panel.set_xlim(0, run.duration_s)
    panel.xaxis.set_major_formatter(FuncFormatter(clock))
    steps = (1, 2, 3, 6, 10)
    panel.xaxis.set_major_locator(MaxNLocator(paper.time_ticks, steps=steps, integer=True))


def _mark(panel: Any, run: Run, theme: Theme) -> None:
    for ramp in ramps(run):
        low, high = ramp.start_s - run.start_s, ramp.end_s - run.start_s
        panel.axvspan(low, high, color=theme.faint, alpha=0.14, linewidth=0, zorder=0.5)
    for start_s in day_starts_s(run)[1:]:
        panel.axvline(start_s - run.start_s, color=theme.ink, linewidth=1.1)
    for miss in misses(run):
        low, high = miss.start_s - run.start_s, miss.end_s - run.start_s
        panel.axvspan(low, high, color=theme.late, alpha=0.2, linewidth=0, zorder=0.5)


def _title(panel: Any, row: Panel, theme: Theme, paper: Paper) -> None:
    """Write title and unit above the panel, and its legend between them and the panel."""
    legend_in = _LEGEND_IN * _legend_rows(row, paper)
    at: dict[str, Any] = {"textcoords": "offset points", "va": "baseline"}
    corner = (-72 * _LEFT_IN + 9, 72 * legend_in + 8)
    title = panel.annotate(
        row.title,
        (0, 1),
        xycoords="axes fraction",
        xytext=corner,
        color=theme.ink,
        fontsize=11.5,
        fontweight="bold",
        **at,
    )
    placed = {"xycoords": title, "xytext": (7, 0), "color": theme.faint, "fontsize": _SMALL}
    panel.annotate(row.unit, (1, 0), **placed, **(at | {"va": "bottom"}))
    handles, labels = panel.get_legend_handles_labels()
    if row.legend and handles:
        panel.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(-(_LEFT_IN - 0.1) / (paper.width_in - _LEFT_IN - _RIGHT_IN), 0.99),
            ncols=paper.legend_columns,
            frameon=False,
            fontsize=_SMALL,
            labelcolor=theme.ink,
            handlelength=1.7,
            handletextpad=0.5,
            columnspacing=1.3,
            borderpad=0.1,
            labelspacing=0.2,
        )


def clock(seconds: float, _: int = 0) -> str:
    """Return seconds as minutes:seconds, with hours if necessary."""
    total_s = int(seconds)
    minutes = f"{total_s // 60 % 60}:{total_s % 60:02d}"
    return f"{total_s // 3600}:{minutes.zfill(5)}" if total_s >= 3600 else minutes
