"""The report of several days with different sizing: one HTML file with a plot."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.table import Table

from rheostat.machine.atomic_file import write_atomic
from rheostat_lab.demo.results_folder import REPORT
from rheostat_lab.operated import days_plot
from rheostat_lab.operated.sized_resource import HPA, Shortened
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.plot_theme import DARK, LIGHT
from rheostat_lab.report.result_text import UNKNOWN, cells, columns, percent, table
from rheostat_lab.report.summary import Summary


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot as SVG, for the screens of a media query; the last one has none."""

    media: str
    svg: bytes

    @property
    def address(self) -> str:
        """The plot itself as a data URL."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode("ascii")


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day and its sizing."""

    way: str
    run: Run
    summary: Summary

    @property
    def sizer(self) -> str:
        """A short description of the sizing."""
        return f"Kubernetes' HPA ({HPA})" if self.way == HPA else f"Rheostat ({self.run.policy})"


def write_days(days: Sequence[Day], shortened: Shortened, path: Path) -> None:
    """Write the report; it contains its plots, and links to the report of each day next to it."""
    environment = Environment(
        loader=PackageLoader("rheostat_lab.operated"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template("days.html").render(
        title=days[0].run.title,
        columns=("Sized by", *names(days[0].summary)),
        rows=[(day.sizer, *row(day.summary)) for day in days],
        together=together(days),
        days=days,
        report=REPORT,
        shortened=shortened.in_words(),
        versions=days[0].run.versions,
    )
    write_atomic(path, text)


def days_table(days: Sequence[Day]) -> Table:
    """Return the table for a terminal."""
    shown = Table(title="One resource, two ways to size it", title_justify="left", box=None)
    for name in ("", *(day.sizer for day in days)):
        shown.add_column(name)
    # One column per day, because seven columns of numbers do not fit into 80 characters.
    for name, *values in zip(
        names(days[0].summary), *(row(day.summary) for day in days), strict=True
    ):
        shown.add_row(name, *values)
    return shown


def together(days: Sequence[Day]) -> tuple[Picture, ...]:
    """Return the plot of all days over one time axis, for dark and for light screens."""
    named = [(day.sizer, day.run) for day in days]
    dark = days_plot.svg(named, DARK)
    return (
        Picture("screen and (prefers-color-scheme: dark)", dark),
        Picture("", days_plot.svg(named, LIGHT)),
    )


def names(summary: Summary) -> tuple[str, ...]:
    """Return the names of a day's numbers."""
    return (*columns(summary)[1:], f"Rows within {summary.slo_s:g} s", "Output")


def row(summary: Summary) -> tuple[str, ...]:
    """Return a day's numbers, one for each name."""
    within = summary.share_within_slo
    share = UNKNOWN if within is None else percent(within)
    return (*cells(table(summary)[0], summary)[1:], share, _output(summary))


def _output(summary: Summary) -> str:
    return "exact" if summary.exact else "not exact"
