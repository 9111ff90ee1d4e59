"""The report of a run: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import datetime as dt
import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from rheostat.journal.rescalings import Change, reason_of, rescalings
from rheostat.model import Record
from rheostat_lab.report.batch_parts import parts
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.machine_load import machine_load
from rheostat_lab.report.miss_causes import in_force
from rheostat_lab.report.plot_theme import DARK, LIGHT, NARROW, WIDE
from rheostat_lab.report.result_text import (
    cells,
    columns,
    core_share,
    days,
    figures,
    findings,
    headline,
    objective,
    seconds,
    slots,
    table,
    utc,
)
from rheostat_lab.report.run_plot import clock, svg
from rheostat_lab.report.summary import Missed, Summary


@dataclass(frozen=True, slots=True)
class Step:
    """A rescaling in words."""

    at: str
    before: int
    after: int
    reason: str
    evidence: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Late:
    """A time in which rows waited too long, in words."""

    when: str
    how_many: str
    causes: tuple[str, ...]
    decision: str
    """The decision in force when it began; empty where there was none."""

    explain: str
    """The command that says more; empty without a journal."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The run's picture as SVG, for the screens that a media query names; the last has none."""

    media: str
    svg: bytes

    @property
    def address(self) -> str:
        """The picture itself as an address."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode("ascii")


def write_report(run: Run, summary: Summary, path: Path) -> None:
    """Write the report; it holds its pictures and styles, and refers only to the journal beside
    it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Relative, so that the folder can be moved or sent as a whole.
    beside = Path(os.path.relpath(run.journal, path.parent)).as_posix() if run.journal else ""
    path.write_text(html(run, summary, pictures(run), beside), encoding="utf-8")


def pictures(run: Run) -> tuple[Picture, ...]:
    """Return the pictures for narrow and wide, dark and light screens; paper takes the last."""
    dark, narrow = "(prefers-color-scheme: dark)", "(max-width: 40rem)"
    return (
        Picture(f"screen and {dark} and {narrow}", svg(run, DARK, NARROW)),
        Picture(f"screen and {narrow}", svg(run, LIGHT, NARROW)),
        Picture(f"screen and {dark}", svg(run, DARK, WIDE)),
        Picture("", svg(run, LIGHT, WIDE)),
    )


def html(run: Run, summary: Summary, shown: Sequence[Picture], journal: str = "") -> str:
    """Return the report as HTML with pictures, and a link to ``journal``, an address relative to
    the report; every text of the run is escaped.
    """
    # PackageLoader finds the template in an installed package too; autoescape is on for all.
    environment = Environment(
        loader=PackageLoader("rheostat_lab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    load = machine_load(run.machine, run.start_s, run.end_s)
    return environment.get_template("report.html").render(
        run=run,
        summary=summary,
        verdict=run.verdict,
        findings=findings(summary, run.verdict.detail if run.verdict else ""),
        late=[late(run, summary, miss) for miss in summary.misses],
        headline=headline(run.title, summary),
        when=f"{dt.datetime.fromtimestamp(run.start_s, dt.timezone.utc):%d %B %Y, %H:%M UTC}",
        figures=figures(summary),
        columns=columns(summary),
        rows=[tuple(cells(row, summary)) for row in (*table(summary), *days(summary))],
        steps=[_step(run, change) for change in rescalings(run.records)],
        settings=settings(run),
        overhead=overhead(run),
        parts=parts(run.batches),
        machine=load,
        pictures=shown,
        journal=journal,
        explain=_explain(run),
    )


def late(run: Run, summary: Summary, miss: Missed) -> Late:
    """Return in words when rows waited too long, why, and what was decided then."""
    record = in_force(run, miss.start_s)
    return Late(
        when=(
            f"From {utc(miss.start_s)} to {utc(miss.end_s)} UTC"
            f" ({_at(run, miss.start_s)} to {_at(run, miss.end_s)} of the run)"
        ),
        how_many=(
            f"{miss.rows:,} rows waited longer than {objective(summary)}, the longest"
            f" {seconds(miss.worst_s)}"
        ),
        causes=miss.causes,
        decision=_decision(record) if record else "",
        explain=_explain(run, miss.start_s),
    )


def _decision(record: Record) -> str:
    """Return a decision as wanted, allowed, decided, in this order."""
    decided = "nothing decided" if record.target is None else f"decided {record.target}"
    return f"{utc(record.t_s)} UTC: {reason_of(record)}; {decided}"


def _explain(run: Run, at_s: float | None = None) -> str:
    """Return the command that explains the run's decisions, or the one at a moment."""
    if run.journal is None:
        return ""
    command = f"rheostat explain {shlex.quote(str(run.journal))}"
    if at_s is None:
        return command
    # With milliseconds, rounded up: cut to the second it would name the decision before one that
    # was made in that second.
    at = dt.datetime.fromtimestamp(math.ceil(at_s * 1000) / 1000, dt.timezone.utc)
    return f"{command} --at {at.replace(tzinfo=None).isoformat(timespec='milliseconds')}"


def _at(run: Run, t_s: float) -> str:
    return clock(max(0.0, t_s - run.start_s))


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
            f" {slots(run.slots_per_executor)}"
        ),
        "Trigger": f"every {run.trigger_s:g} s" if run.trigger_s else "batches back to back",
        "Decision interval": f"{run.interval_s:g} s",
        "Service time": wait,
        **capacity,
        "Measured time": (
            f"{run.duration_s:.0f} s, the first {run.warm_up_s:g} s left out of latencies as"
            " warm-up"
        ),
        **({} if run.driver_log is None else {"Spark's own log": str(run.driver_log)}),
        **run.settings,
    }


def _step(run: Run, change: Change) -> Step:
    evidence = tuple((name, _number(value)) for name, value in change.evidence.items())
    return Step(_at(run, change.t_s), change.before, change.after, change.reason, evidence)


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


OVERHEAD_PARTS = {
    "loop": "looking at the job and deciding",
    "rescale controller": "executing rescales",
    "bridge": "the JVM's side of their calls",
    "rest": "the driver's UI, which answers polls",
    "broker": "asking Kafka for its newest offsets",
}


def overhead(run: Run) -> list[tuple[str, str, str, str]]:
    """Return the parts of the autoscaler's cost, the dearest first: name, CPU seconds, share of a
    core, what it does.
    """
    if run.overhead is None or run.overhead.elapsed_s <= 0:
        return []
    dearest = sorted(run.overhead.cpu_s.items(), key=lambda part: -part[1])
    return [
        (
            name,
            f"{cpu_s:.2f} s",
            core_share(cpu_s / run.overhead.elapsed_s),
            OVERHEAD_PARTS.get(name, ""),
        )
        for name, cpu_s in dearest
    ]
