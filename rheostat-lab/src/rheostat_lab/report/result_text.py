"""The result of a run as text: headline, table with the fixed sizes, numbers at the top."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timezone

from rich.table import Table

from rheostat_lab.report.summary import Missed, Summary

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
    price: str = UNKNOWN


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a promise was kept; None if that is unknown."""

    kept: bool | None
    name: str
    detail: str

    @property
    def sign(self) -> str:
        """A mark that does not depend on color."""
        return {True: "✓", False: "✗", None: "?"}[self.kept]


def headline(title: str, summary: Summary) -> str:
    """Return the result in one line: a broken promise first, savings only without one."""
    within = summary.share_within_slo
    share = "" if within is None else f"{percent(within)} of rows within {objective(summary)}"
    # Wrong output comes first, because no saving compensates for it.
    if summary.rows_in is not None and not summary.exact:
        return ", ".join(part for part in ("Output not exact", share) if part)
    # A missed objective comes before any saving.
    if summary.objective_met is False:
        return f"Objective missed: {share}, 99 % wanted"
    return ", ".join(part for part in (_saved(summary), share) if part) or title


def _saved(summary: Summary) -> str:
    saved = summary.slot_hours_saved_share
    if saved is None:
        return ""
    word = "fewer" if saved >= 0 else "more"
    return (
        f"{abs(saved) * 100:.0f} % {word} slot-hours than {summary.executors_max} executors all"
        " the time"
    )


def objective(summary: Summary) -> str:
    """Return the latency objective as text."""
    return f"{summary.slo_s:g} s"


def findings(summary: Summary, detail: str = "") -> tuple[Finding, Finding]:
    """Return the promises and whether they were kept: the output (with the ``detail`` of its
    comparison), then the objective.
    """
    return _output(summary, detail), _objective(summary)


def _output(summary: Summary, detail: str) -> Finding:
    if summary.rows_in is None:
        return Finding(None, "Output not verified", "the sink was not compared with the topic")
    return Finding(summary.exact, "Output exact" if summary.exact else "Output not exact", detail)


def _objective(summary: Summary) -> Finding:
    within, late = summary.share_within_slo, sum(miss.rows for miss in summary.misses)
    if within is None:
        return Finding(None, "Objective not measured", "no latency of any row is known")
    text = f"{percent(within)} of rows within {objective(summary)}, 99 % wanted"
    if late:
        text += f"; {late:,} waited longer"
    return Finding(
        summary.objective_met,
        "Objective met" if summary.objective_met else "Objective missed",
        text,
    )


def miss_in_words(miss: Missed, summary: Summary) -> str:
    """Return when and how many rows waited too long, and why, as one sentence."""
    return (
        f"From {utc(miss.start_s)} to {utc(miss.end_s)} {miss.rows:,} rows waited longer than"
        f" {objective(summary)} (at most {seconds(miss.worst_s)}): {'; '.join(miss.causes)}."
    )


def utc(t_s: float) -> str:
    """Return a Unix time as the time of day in UTC, to the second."""
    return f"{datetime.fromtimestamp(t_s, tz=timezone.utc):%H:%M:%S}"


def percent(share: float) -> str:
    """Return a share as a percentage with at most two decimals, rounded down."""
    # Never up: 98.996 % is not the required 99 %, and one late row of a million counts. The small
    # number is for shares such as 0.29, whose hundredfold is a float below 29.
    return f"{min(100.0, math.floor(share * 10_000 + 1e-6) / 100):g} %"


def table(summary: Summary) -> tuple[Row, ...]:
    """Return this run next to the fixed sizes; the live view prints the same."""
    sizes = f"{summary.executors_min} to {summary.executors_max}, mean {summary.executors_mean:.1f}"
    this = Row(
        "Rheostat",
        sizes,
        seconds(summary.latency_mean_s),
        seconds(summary.latency_p99_s),
        f"{summary.slot_hours:.3f}",
        str(summary.rescalings),
        _price(summary, summary.slot_hours),
    )
    fixed = (
        Row(
            one.name,
            str(one.executors),
            seconds(one.latency_mean_s),
            seconds(one.latency_p99_s),
            f"{one.slot_hours:.3f}",
            "0",
            _price(summary, one.slot_hours),
        )
        for one in summary.baselines
    )
    return (this, *fixed)


def days(summary: Summary) -> tuple[Row, ...]:
    """Return one row per day; empty if the run is one day."""
    return tuple(
        replace(
            table(day)[0],
            name=f"day {number}: {_in_time(day)}",
        )
        for number, day in enumerate(summary.days, 1)
    )


def _in_time(day: Summary) -> str:
    within = day.share_within_slo
    return UNKNOWN if within is None else f"{percent(within)} of rows in time"


def columns(summary: Summary) -> tuple[str, ...]:
    """Return the names of the table's columns; the price only if one was given."""
    names = ("Size", "Executors", "Latency, mean", "Latency, 99 %", "Slot-hours", "Rescalings")
    return names if summary.price_per_slot_hour is None else (*names, "Price")


def cells(row: Row, summary: Summary) -> tuple[str, ...]:
    """Return a row's cells, one per column."""
    return astuple(row)[: len(columns(summary))]


def _price(summary: Summary, slot_hours: float) -> str:
    price = summary.price_per_slot_hour
    return UNKNOWN if price is None else money(slot_hours * price)


def figures(summary: Summary) -> tuple[tuple[str, str, str], ...]:
    """Return the numbers at the top: name, value, reference."""
    within = summary.share_within_slo
    return (
        _slot_hours(summary),
        (
            "Latency, 99 % of rows",
            seconds(summary.latency_p99_s),
            f"objective {objective(summary)}",
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
        *_money(summary),
    )


def _slot_hours(summary: Summary) -> tuple[str, str, str]:
    """Return the slot-hours; fewer of them are a saving only if the objective was met."""
    saved = summary.slot_hours_saved_share
    detail = f"compared with {summary.executors_max} executors throughout"
    if summary.objective_met is False and saved is not None and saved > 0:
        return (
            "Slot-hours",
            f"{round(saved * 100)} % fewer",
            f"{detail}; no saving: the objective was missed",
        )
    return "Slot-hours saved", UNKNOWN if saved is None else f"{round(saved * 100)} %", detail


def _money(summary: Summary) -> tuple[tuple[str, str, str], ...]:
    price = summary.price_per_slot_hour
    if price is None:
        return ()
    most = summary.baselines[0].slot_hours * price
    detail = f"{price:g} per slot-hour; {summary.executors_max} executors throughout: {money(most)}"
    return (("Price of this run", money(summary.slot_hours * price), detail),)


def slots(count: int) -> str:
    """Return a number of slots as text."""
    return "one slot" if count == 1 else f"{count} slots"


def money(amount: float) -> str:
    """Return an amount with three significant digits, in the currency of the price."""
    return f"{amount:,.2f}" if amount >= 100 else f"{amount:.3g}"


def printed(title: str, summary: Summary) -> Table:
    """Return the table for a terminal, this run first, with the headline and the numbers."""
    below = "\n".join(
        [
            *(f"{name}: {much} ({detail})" for name, much, detail in figures(summary)[2:]),
            *(f"{one.sign} {one.name}: {one.detail}" for one in findings(summary) if one.detail),
            *(miss_in_words(miss, summary) for miss in summary.misses),
        ]
    )
    shown = Table(
        title=headline(title, summary),
        caption=below,
        title_justify="left",
        caption_justify="left",
        title_style="bold",
        box=None,
    )
    short = ("", "executors", "latency mean", "99 %", "slot-hours", "rescalings", "price")
    for number, name in enumerate(short[: len(columns(summary))]):
        shown.add_column(name, justify="left" if number < 2 else "right", header_style="dim")
    for line in (*table(summary), *days(summary)):
        shown.add_row(*cells(line, summary), style="bold" if line.name == "Rheostat" else "")
    return shown


def seconds(value: float | None) -> str:
    """Return seconds as text; a dash if unknown."""
    if value is None:
        return UNKNOWN
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def core_share(value: float | None) -> str:
    """Return a share of a core as text."""
    return UNKNOWN if value is None else f"{value * 100:.2f} %"
