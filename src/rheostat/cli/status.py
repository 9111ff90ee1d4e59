"""``rheostat status``: the status of jobs, from their journals or their control APIs."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from rheostat.cli.output import AsJson, Out, emit
from rheostat.cli.status_text import lines_of, row_of
from rheostat.control.driver_call import ENDPOINT, call_driver
from rheostat.errors import BadInput, RheostatError
from rheostat.journal.known_journals import is_journal, journals_of, known_journals, written_s
from rheostat.journal.starts import Start
from rheostat.journal.status import job_status, status_json
from rheostat.machine.scratch_folder import state_folder
from rheostat.storage.lease import process_start, this_process

_RECENT_S = 7 * 86_400.0


def status(
    jobs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JOURNAL|CHECKPOINT|HOST:PORT]...",
            help=(
                "A journal's folder, the checkpoint of a query, or a control endpoint; default: the"
                " journals of this computer that were written in the last seven days."
            ),
        ),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(
            "--price-per-slot-hour", help="Price of a slot-hour; default: that of the job.", min=0
        ),
    ] = None,
    as_json: AsJson = False,
    out: Out = None,
) -> int:
    """Show the status of a job on one screen, or of several jobs in one row each.

    The screen shows whether it runs and since when; policy, limits and mode; current and wanted
    size; load, backlog and latency against the objective; the last change and its reason; the
    bottleneck; broker, journal, kill switch and control endpoint; savings so far.

    The exit code is 0 if every job is healthy, else 1.

    Example: rheostat status out/demo/journal
    """
    shown = [answer for job in jobs or _recent() for answer in _answers(job)]
    for answer in shown:
        answer["price"] = price or (answer["start"] or {}).get("price")
    emit(shown, as_json, out, lambda: _show(shown))
    return 0 if all(answer["healthy"] for answer in shown) else 1


def _recent() -> list[str]:
    place = state_folder()
    since_s = time.time() - _RECENT_S
    recent = [str(folder) for folder in known_journals(place) if written_s(folder) >= since_s]
    if not recent:
        raise BadInput(
            f"no journal was written in the last seven days in {place}; name a journal, a"
            " checkpoint or HOST:PORT"
        )
    return recent


def _answers(job: str) -> list[dict[str, Any]]:
    """Return the status of the jobs that an argument names; raises BadInput for other arguments."""
    folder = Path(job)
    if is_journal(folder):
        return [_of_journal(folder)]
    if is_journal(folder / "journal"):
        raise BadInput(f"there is no journal in {job}, but there is one in {folder / 'journal'}")
    if not folder.exists() and ENDPOINT.fullmatch(job):
        return [_of_endpoint(job)]
    journals = journals_of(job, state_folder())
    if not journals:
        raise BadInput(
            f"{job} is no journal, no control endpoint HOST:PORT, and no checkpoint of which a"
            " journal on this computer knows"
        )
    return [_of_journal(journals[0])]


def _of_journal(folder: Path) -> dict[str, Any]:
    return status_json(job_status(folder, time.time(), alive))


def alive(start: Start) -> bool | None:
    """Return whether the process of a start runs; None if it is on another computer."""
    if start.pid is None or start.host != this_process().host:
        return None
    return process_start(start.pid) == start.process_started


def _of_endpoint(address: str) -> dict[str, Any]:
    try:
        token = os.environ.get("RHEOSTAT_READ_TOKEN")
        read: dict[str, Any] = call_driver(address, "overview", token)
        return {**read, "endpoint": address, "healthy": bool(read["healthy"])}
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise RheostatError(
            f"{address} does not answer as a control endpoint of Rheostat: {fault}"
        ) from None


def _show(shown: list[dict[str, Any]]) -> None:
    if len(shown) == 1:
        typer.echo("\n".join(lines_of(shown[0], time.time())))
        return
    from rich.console import Console

    from rheostat.cli.output import plain_table
    from rheostat.cli.status_text import COLUMNS

    table = plain_table(*COLUMNS)
    for answer in shown:
        table.add_row(*row_of(answer, time.time()))
    Console().print(table)
