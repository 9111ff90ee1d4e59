"""The report of a run: the frozen page of its job, plus what is only known after a run."""

from __future__ import annotations

import datetime as dt
import math
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rheostat.control.journal_job import JournalJob
from rheostat.control.page_text import frozen_html
from rheostat.journal.events import reason_of
from rheostat.journal.folder import FolderJournal
from rheostat.journal.starts import LIVE, End, Start
from rheostat.model import Record
from rheostat_lab.report.batch_parts import parts
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.machine_load import machine_load
from rheostat_lab.report.miss_causes import in_force
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
from rheostat_lab.report.run_plot import clock
from rheostat_lab.report.summary import Missed, Summary

Section = Mapping[str, Any]
_TONES = {True: "good", False: "bad", None: "open"}


def write_report(run: Run, summary: Summary, path: Path) -> None:
    """Write the report; it has no external references."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html(run, summary), encoding="utf-8")


def html(run: Run, summary: Summary) -> str:
    """Return the report as HTML."""
    with TemporaryDirectory() as folder:
        _keep(run, Path(folder))
        job = JournalJob(Path(folder), clock=lambda: run.end_s)
        return frozen_html(job, _changed(run, summary), list(sections(run, summary)))


def _keep(run: Run, folder: Path) -> None:
    """Write the records of a run as a journal, without those before and after it."""
    journal = FolderJournal(folder)
    journal.note(
        Start(
            t_s=run.start_s,
            mode=LIVE,
            policy=run.policy,
            slo_s=run.slo.latency_s,
            min_executors=run.limits.min_executors,
            max_executors=run.limits.max_executors,
            interval_s=run.interval_s,
            price=run.price_per_slot_hour,
        )
    )
    for record in run.records:
        journal.append(record, {})
    journal.note(End(t_s=run.end_s))
    journal.close()


def _changed(run: Run, summary: Summary) -> dict[str, Any]:
    """Return the name and the state of a finished run: whether it kept its promises."""
    kept = [finding.kept for finding in findings(summary)]
    broken = [finding for finding in findings(summary) if finding.kept is False]
    unknown = [finding for finding in findings(summary) if finding.kept is None]
    first = (*broken, *unknown, *findings(summary)[1:])[0]
    when = dt.datetime.fromtimestamp(run.start_s, dt.timezone.utc)
    return {
        "name": f"{run.title}, {when:%d %B %Y, %H:%M UTC}",
        "journal": str(run.journal or ""),
        "figures": figures(summary),
        "health": {
            "word": first.name,
            "tone": "Late" if False in kept else "Bound" if None in kept else "Healthy",
            "sentence": f"{headline(run.title, summary)}.",
            "action": _explain(run) and f"Read every decision in words: {_explain(run)}",
        },
    }


def sections(run: Run, summary: Summary) -> Iterator[Section]:
    """Yield the sections that the journal does not contain, the most important first."""
    for finding in findings(summary, run.verdict.detail if run.verdict else ""):
        yield _notice(_TONES[finding.kept], finding.name, finding.detail)
    load = machine_load(run.machine, run.start_s, run.end_s)
    if load and load.busy:
        text = f"{load.in_words()}, on the mean of the run; its latencies are those of a busy"
        yield _notice("open", "Busy computer", f"{text} computer, or of one with too few cores.")
    tone = "open" if summary.objective_met else "bad"
    for miss in summary.misses:
        yield _notice(tone, *_late(run, summary, miss))
    yield _table(
        "This run compared with fixed sizes",
        columns(summary),
        [cells(row, summary) for row in (*table(summary), *days(summary))],
        "Slot-hours of fixed sizes are arithmetic: executors times hours. A dash: not measured.",
    )
    if spent := parts(run.batches):
        rows = [
            (
                part.name,
                f"{part.share:.1%}",
                f"{part.mean_s:.3f} s",
                f"{part.longest_s:.3f} s",
                part.meaning,
            )
            for part in spent
        ]
        of_batches = ("Part", "Share", "Mean", "Longest", "What it is")
        yield _table("What the batches spent their time on", of_batches, rows)
    if costs := overhead(run):
        of_costs = ("Part", "CPU time", "Of one core", "What it does")
        yield _table("What the autoscaler cost", of_costs, costs)
    yield _facts("Settings and versions", {**settings(run), **run.versions})
    yield _facts("How the numbers are measured", DEFINITIONS)


def _notice(tone: str, title: str, text: str) -> Section:
    return {"kind": "notice", "tone": tone, "title": f"{title}.", "text": text}


def _table(title: str, names: Any, rows: Any, text: str = "") -> Section:
    is_main = bool(text)
    return {
        "kind": "table",
        "title": title,
        "columns": names,
        "rows": rows,
        "text": text,
        "open": is_main,
    }


def _facts(title: str, rows: Mapping[str, str]) -> Section:
    return {"kind": "facts", "title": title, "rows": list(rows.items()), "open": False}


def _late(run: Run, summary: Summary, miss: Missed) -> tuple[str, str]:
    """Return when and how many rows waited too long, the reasons, and the decision in force."""
    title = (
        f"Late rows from {utc(miss.start_s)} to {utc(miss.end_s)} UTC"
        f" ({_at(run, miss.start_s)} to {_at(run, miss.end_s)} of the run)"
    )
    record = in_force(run, miss.start_s)
    decision = f" Decision in force: {_decision(record)}." if record else ""
    return title, (
        f"{miss.rows:,} rows waited longer than {objective(summary)}, the longest"
        f" {seconds(miss.worst_s)}: {'; '.join(miss.causes)}.{decision}"
    )


def _decision(record: Record) -> str:
    decided = "nothing decided" if record.target is None else f"decided {record.target}"
    return f"{utc(record.t_s)} UTC, {reason_of(record)}; {decided}"


def _explain(run: Run, at_s: float | None = None) -> str:
    """Return the command that explains the run's decisions, or the decision at a moment."""
    if run.journal is None:
        return ""
    command = f"rheostat explain {shlex.quote(str(run.journal))}"
    if at_s is None:
        return command
    # With milliseconds, rounded up: truncated to the second, it would select the decision before
    # one in that second.
    at = dt.datetime.fromtimestamp(math.ceil(at_s * 1000) / 1000, dt.timezone.utc)
    return f"{command} --at {at.replace(tzinfo=None).isoformat(timespec='milliseconds')}"


def _at(run: Run, t_s: float) -> str:
    return clock(max(0.0, t_s - run.start_s))


def settings(run: Run) -> Mapping[str, str]:
    """Return the settings of a run as text."""
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


OVERHEAD_PARTS = {
    "loop": "looking at the job and deciding",
    "rescale controller": "executing rescales",
    "bridge": "the JVM's side of their calls",
    "rest": "the driver's UI, which answers polls",
    "broker": "asking Kafka for its newest offsets",
}


def overhead(run: Run) -> list[tuple[str, str, str, str]]:
    """Return the parts of the autoscaler's cost, the most expensive first: name, CPU seconds, share
    of a core, purpose.
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


DEFINITIONS = {
    "Latency of a row": (
        "commit time of its micro-batch minus the time at which the broker appended it, from"
        " offsets and the arrival curve; mean and 99 % are over rows, not over batches"
    ),
    "Objective met": (
        "at least 99 % of the rows that arrived after the warm-up were committed within the"
        " objective; rows that were never committed count as late"
    ),
    "Slot-hours": (
        "from the moment an executor's request is accepted to the moment its process is gone:"
        " starting and draining are paid"
    ),
    "A rescaling": "one executed change of the target, however many executors it moves",
    "Lag gone after the ramp": (
        "from the end of the marked ramp to the third commit in a row after which less than one"
        " second of arrivals was waiting"
    ),
    "Cost of the autoscaler": (
        "CPU seconds of its own threads, and of its REST and JVM calls, per second of one core"
    ),
    "Output exact": (
        "the sink's committed files hold, row for row and by their contents, what a batch"
        " computation over the same topic gives"
    ),
}
