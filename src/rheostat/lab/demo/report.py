"""The report of a run: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from rheostat.lab.demo.finished_run import Run
from rheostat.lab.demo.rescalings import Change, rescalings
from rheostat.lab.demo.result_text import core_share, figures, headline, table
from rheostat.lab.demo.run_plot import DARK, LIGHT, svg
from rheostat.lab.demo.summary import Summary


@dataclass(frozen=True, slots=True)
class Step:
    """A rescaling in words."""

    at: str
    before: int
    after: int
    reason: str
    evidence: tuple[tuple[str, str], ...]


def write_report(run: Run, summary: Summary, path: Path) -> None:
    """Write the report; it holds its pictures and styles and refers to nothing outside."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        html(run, summary, svg(run, summary, LIGHT), svg(run, summary, DARK)), encoding="utf-8"
    )


def html(run: Run, summary: Summary, light: bytes, dark: bytes) -> str:
    """Return the report as HTML with the picture as SVG for light and dark screens; every text of
    the run is escaped.
    """
    # PackageLoader finds the template in an installed package too; autoescape is on for all.
    environment = Environment(
        loader=PackageLoader("rheostat.lab.demo"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        run=run,
        summary=summary,
        verdict=run.verdict,
        headline=headline(run.title, summary),
        when=dt.datetime.fromtimestamp(run.start_s, dt.timezone.utc).strftime(
            "%d %B %Y, %H:%M UTC"
        ),
        figures=figures(summary),
        rows=table(summary),
        steps=[_step(run, change) for change in rescalings(run.records)],
        settings=settings(run),
        overhead=_overhead(run),
        light=_data(light),
        dark=_data(dark),
    )


def settings(run: Run) -> Mapping[str, str]:
    """Return what the run was set to, in words."""
    wait = (
        "none"
        if run.service_ms == 0
        else f"{run.service_ms:g} ms a row: a wait that stands for a call to an outside system"
    )
    capacity = (
        {}
        if run.service_ms == 0
        else {
            "Capacity of a slot": (
                f"at most {1000 / run.service_ms:,.0f} rows/s, set by the service time"
            )
        }
    )
    return {
        "Query": run.query,
        "Policy": run.policy,
        "Latency objective": f"99 % of rows within {run.slo.latency_s:g} s",
        "Limits": (
            f"{run.limits.min_executors} to {run.limits.max_executors} executors of"
            f" {_slots(run.slots_per_executor)}"
        ),
        "Trigger": f"every {run.trigger_s:g} s" if run.trigger_s else "batches back to back",
        "Decision interval": f"{run.interval_s:g} s",
        "Service time": wait,
        **capacity,
        "Measured time": (
            f"{run.duration_s:.0f} s, the first {run.warm_up_s:g} s left out of latencies as"
            " warm-up"
        ),
        **run.settings,
    }


def _slots(count: int) -> str:
    return "one slot" if count == 1 else f"{count} slots"


def _step(run: Run, change: Change) -> Step:
    at = max(0, round(change.t_s - run.start_s))
    evidence = tuple((name, _number(value)) for name, value in change.evidence.items())
    return Step(f"{at // 60}:{at % 60:02d}", change.before, change.after, change.reason, evidence)


def _number(value: float | int | str | None) -> str:
    if value is None:
        return "unknown"
    return (
        f"{value:,.4g}"
        if isinstance(value, float) and abs(value) < 1000
        else f"{value:,.0f}"
        if isinstance(value, int | float)
        else value
    )


def _overhead(run: Run) -> tuple[tuple[str, str], ...]:
    if run.overhead is None or run.overhead.elapsed_s <= 0:
        return ()
    return tuple(
        (part, core_share(cpu_s / run.overhead.elapsed_s))
        for part, cpu_s in run.overhead.cpu_s.items()
    )


def _data(picture: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(picture).decode("ascii")
