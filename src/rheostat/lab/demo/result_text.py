"""The result of a run in words: the one line, the table beside fixed sizes, the numbers at the
top.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

from rich.table import Table

from rheostat.lab.demo.summary import Summary

UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: this run, or a fixed size."""

    name: str
    executors: str
    mean: str
    p99: str
    slot_hours: str
    rescalings: str


def headline(title: str, summary: Summary) -> str:
    """Return the result in one line."""
    saved = summary.slot_hours_saved_share
    word = "fewer" if (saved or 0) >= 0 else "more"
    first = (
        ""
        if saved is None
        else (
            f"{abs(saved) * 100:.0f} % {word} slot-hours than {summary.executors_max} executors all"
            " the time"
        )
    )
    within = summary.share_within_slo
    second = (
        ""
        if within is None
        else f"{percent(within)} of rows within {summary.latency_objective_s:g} s"
    )
    return ", ".join(part for part in (first, second) if part) or title


def percent(share: float) -> str:
    """Return a share as a percentage that does not say 100 % where something lacks."""
    return "100 %" if share >= 1 else f"{min(share * 100, 99.99):.4g} %"


def table(summary: Summary) -> tuple[Row, ...]:
    """Return this run beside the fixed sizes; the live view prints the same."""
    sizes = f"{summary.executors_min} to {summary.executors_max}, mean {summary.executors_mean:.1f}"
    mean, p99 = seconds(summary.latency_mean_s), seconds(summary.latency_p99_s)
    this = Row("Rheostat", sizes, mean, p99, f"{summary.slot_hours:.3f}", str(summary.rescalings))
    fixed = (
        Row(
            one.name,
            str(one.executors),
            seconds(one.latency_mean_s),
            seconds(one.latency_p99_s),
            f"{one.slot_hours:.3f}",
            "0",
        )
        for one in summary.baselines
    )
    return (this, *fixed)


def figures(summary: Summary) -> tuple[tuple[str, str, str], ...]:
    """Return the numbers at the top: what, how much, beside what."""
    saved, within = summary.slot_hours_saved_share, summary.share_within_slo
    return (
        (
            "Slot-hours saved",
            UNKNOWN if saved is None else f"{saved * 100:.0f} %",
            f"beside {summary.executors_max} executors all the time",
        ),
        (
            "Latency, 99 % of rows",
            seconds(summary.latency_p99_s),
            f"objective {summary.latency_objective_s:g} s",
        ),
        (
            "Rows within the objective",
            UNKNOWN if within is None else percent(within),
            "at least 99 % wanted",
        ),
        (
            "Lag gone after the ramp",
            seconds(summary.lag_recovery_s),
            "under one second of arrivals",
        ),
        (
            "Rescalings",
            str(summary.rescalings),
            f"{summary.failed_tasks} failed tasks, {summary.failed_batches} failed batches",
        ),
        ("Cost of the autoscaler", core_share(summary.overhead_core_share), "of one core"),
    )


def printed(title: str, summary: Summary) -> Table:
    """Return the table for a terminal, this run first, the headline above and the numbers below
    it.
    """
    below = "\n".join(f"{name}: {much} ({beside})" for name, much, beside in figures(summary)[2:])
    shown = Table(
        title=headline(title, summary),
        caption=below,
        title_justify="left",
        caption_justify="left",
        title_style="bold",
        box=None,
    )
    for name in ("", "executors", "latency mean", "99 %", "slot-hours", "rescalings"):
        shown.add_column(
            name, justify="left" if name in ("", "executors") else "right", header_style="dim"
        )
    for line in table(summary):
        shown.add_row(*astuple(line), style="bold" if line.name == "Rheostat" else "")
    return shown


def seconds(value: float | None) -> str:
    """Return seconds in words; a dash for what is unknown."""
    if value is None:
        return UNKNOWN
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def core_share(value: float | None) -> str:
    """Return a share of a core in words."""
    return UNKNOWN if value is None else f"{value * 100:.2f} %"
