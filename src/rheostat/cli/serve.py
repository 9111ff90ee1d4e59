"""``rheostat serve`` and ``rheostat top``: jobs on a web page and in the terminal."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import AsJson, Out, emit, out_option, plain_table, write_out
from rheostat.cli.status import alive
from rheostat.config import ServeOptions
from rheostat.errors import BadInput, RheostatError
from rheostat.journal.known_journals import known_journals
from rheostat.machine.scratch_folder import state_folder
from rheostat.plural import counted

if TYPE_CHECKING:
    from rich.table import Table

    from rheostat.control.jobs import Job, Scan

Places = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[JOURNAL|FOLDER|HOST:PORT|k8s://NAMESPACE]...",
        help=(
            "Journals and folders of journals (here, hdfs://, s3a:// ...), drivers with serve=, and"
            " the drivers of a Kubernetes namespace (k8s://NAMESPACE?LABEL=VALUE); default: the"
            " journals of this computer."
        ),
    ),
]

_COLOURS = {
    "Healthy": "green",
    "Late": "red",
    "Bound": "yellow",
    "Halted": "magenta",
    "Blind": "magenta",
    "Not scaling": "dim",
}
_COLUMNS = ("state", "job", "executors", "rows/s", "latency", "objective", "late", "saved", "")


def serve(
    places: Places = None,
    at: Annotated[
        str, typer.Option(help="Port, or HOST:PORT; the host is the loopback address by default.")
    ] = "8086",
    hosts: Annotated[
        str, typer.Option(help="Host names, separated by commas, under which it may be called.")
    ] = "",
    certificate: Annotated[str, typer.Option(help="TLS certificate file (PEM).")] = "",
    key: Annotated[str, typer.Option(help="Key file of the certificate (PEM).")] = "",
    out: Annotated[
        Path | None,
        out_option("Write the page of one job to this HTML file, which needs no server, and end."),
    ] = None,
) -> None:
    """Serve a page that shows jobs: health, charts, decisions with their reasons, and savings.

    It only reads journals: it installs nothing in the drivers and writes nothing. The environment
    variable RHEOSTAT_READ_TOKEN is the token of readers, if there is one. What-if questions need
    the extra sim.

    Example: rheostat serve out/demo/journal
    """
    from rheostat.control.access import Access
    from rheostat.control.jobs import jobs_of
    from rheostat.control.page_app import reading_app
    from rheostat.control.server import Server

    tls = {"serve_certificate": certificate, "serve_key": key}
    options = ServeOptions(serve=at, serve_hosts=hosts, **tls)
    access = Access.of_environment(options.host_names)
    jobs = jobs_of(places or known(), alive, os.environ.get("RHEOSTAT_READ_TOKEN"), elsewhere)
    if out:
        from rheostat.control.page_text import frozen_html

        write_out(out, [frozen_html(jobs.get(None))])
        return
    server = Server(reading_app(jobs, access, _whatif), *options.address, tls=options.tls)
    typer.echo(f"{counted(len(jobs.all()), 'job')} at {server.url} (Ctrl-C ends it)")
    try:
        server.wait()
    finally:
        server.close()


def known() -> list[str]:
    """Return the journals of this computer; raises BadInput if there are none."""
    journals = [str(folder) for folder in known_journals(state_folder())]
    if not journals:
        raise BadInput("there is no journal on this computer yet; name a journal or HOST:PORT")
    return journals


def elsewhere(place: str) -> Scan | None:
    """Return the scan of a place in a cluster: ``k8s://NAMESPACE``, or a folder of any file system
    that Hadoop supports; None for any other place.
    """
    scheme = place.partition("://")[0] if "://" in place else ""
    if scheme == "k8s":
        from rheostat.operator.namespace_drivers import namespace_scan

        return namespace_scan(place, os.environ.get("RHEOSTAT_READ_TOKEN"))
    return _mirrored(place) if scheme not in ("", "http", "https") else None


def _mirrored(place: str) -> Scan:
    from rheostat.control.jobs import MirroredFolder, journal_jobs
    from rheostat.spark.internals.hadoop_file_system import own_files

    kept = tempfile.TemporaryDirectory(prefix="rheostat-")  # removed when this process ends
    mirror = MirroredFolder(own_files(), place, Path(kept.name))
    try:
        mirror.refresh()
    except OSError as fault:
        raise RheostatError(f"{place} cannot be read: {fault}") from None

    def scan() -> Iterable[Job]:
        with suppress(OSError):  # the rows of the affected jobs show the error
            mirror.refresh()
        return journal_jobs(Path(kept.name), alive, mirror.refresh)

    return scan


def _whatif(job: Job, question: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer a what-if question about the journal of a job."""
    from rheostat.cli.recordings.whatif import errors, verdict
    from rheostat.control.journal_job import JournalJob
    from rheostat.model import Limits, Slo
    from rheostat.policies.registry import create
    from rheostat.replay import recording
    from rheostat.sim.fitting.counterfactual import Question
    from rheostat.sim.fitting.counterfactual import whatif as answer
    from rheostat.sim.fitting.recorded_run import recorded

    if not isinstance(job, JournalJob):
        raise BadInput("a what-if question needs the journal; serve the journal itself")
    try:
        low, high, slo_s = int(question["min"]), int(question["max"]), float(question["slo"])
        policy = str(question["policy"])
    except (KeyError, TypeError, ValueError):
        raise BadInput("a question needs policy, slo, min and max") from None
    slo = Slo(latency_s=slo_s)
    create(policy, {}, slo)
    run = recorded(recording.read(recording.find(str(Path(job.folder)))))
    limits = Limits.between(low, high)
    answered = answer(run, Question(policy=policy, limits=limits, slo=slo))
    texts = {"verdict": verdict(answered), "errors": errors(answered)}
    return {**asdict(answered), "policy": policy, **texts, "decisions": []}


def top(
    places: Places = None,
    every: Annotated[float, typer.Option(help="Seconds between two updates.", min=0.5)] = 2.0,
    once: Annotated[bool, typer.Option(help="Print once and exit.")] = False,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Show jobs in the terminal, those that need attention first; Ctrl-C ends it.

    Example: rheostat top --once /var/lib/rheostat/journals
    """
    from rich.console import Console
    from rich.live import Live

    from rheostat.control.jobs import jobs_of

    jobs = jobs_of(places or known(), alive, os.environ.get("RHEOSTAT_READ_TOKEN"), elsewhere)
    console = Console()
    if once or as_json or out or not console.is_terminal:
        rows = ordered(jobs.rows())
        emit(rows, as_json, out, lambda: console.print(table(rows)))
        return
    shown = table(ordered(jobs.rows()))
    with Live(shown, console=console, auto_refresh=False, screen=True) as live:
        while True:
            time.sleep(every)
            live.update(table(ordered(jobs.rows())), refresh=True)


def ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows sorted by state, those that need attention first."""
    ranks = ("Late", "Blind", "Bound", "Halted", "Not scaling", "Healthy")
    return sorted(rows, key=lambda row: (ranks.index(row["word"]), row["name"]))


def table(rows: list[dict[str, Any]]) -> Table:
    """Return the rows as a table."""
    from rich.markup import escape

    shown = plain_table(*_COLUMNS)
    for row in rows:
        colour = _COLOURS[row["word"]]
        ceiling = f" of {row['ceiling']}" if row.get("ceiling") else ""
        shown.add_row(
            f"[{colour}]{row['word']}[/]",
            escape(row["name"]),
            f"{_number(row.get('executors'))}{ceiling}",
            _number(row.get("rate")),
            _number(row.get("latency_s"), " s"),
            _number(row.get("slo_s"), " s"),
            _share(row.get("late_share"), 2),
            _share(row.get("saved_share"), 0),
            escape(row["sentence"]),
        )
    return shown


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}{unit}" if value >= 100 else f"{value:.3g}{unit}"


def _share(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}%}"
