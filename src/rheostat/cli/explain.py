"""``rheostat explain``: explains the decisions of a journal."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.output import emit_lines, out_option
from rheostat.errors import BadInput
from rheostat.journal import explanation as words
from rheostat.journal.explanation import History
from rheostat.journal.reading import records
from rheostat.journal.record import to_line
from rheostat.journal.retention import segments
from rheostat.journal.starts import read_events, starts_of
from rheostat.model import Record


def explain(
    journal: Annotated[Path, typer.Argument(help="A journal's folder, or one file of it.")],
    at: Annotated[
        str | None,
        typer.Option(
            help="The decision in force then: seconds, or a UTC time like 2026-01-31T09:30."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the records themselves, one JSON object a line.")
    ] = False,
    out: Annotated[Path | None, out_option("Write the same JSON lines to this file.")] = None,
) -> None:
    """Explain the current size: what was observed, what the policy wanted, what each guard changed,
    and how far the change has progressed.

    Without --at: starts and restarts of the driver, every change of the target, external changes of
    the size, and the most frequent reason since the newest change.

    Example: rheostat explain out/demo/journal --at 2026-01-31T09:30
    """
    moment = None if at is None else _seconds(at)
    kept = kept_records(journal)
    history = History(starts_of(read_events(journal)))
    if moment is None:
        records = list(words.changes(history.passing(kept)))
    else:
        records = [_at(kept, moment, journal)]
    if as_json or out:
        emit_lines(map(to_line, records), as_json, out)
    if as_json:
        return
    lines = [(record.t_s, "\n".join(words.explain(record))) for record in records]
    if moment is None:
        lines += [*history.lines(), *_restarts(journal)]
    texts = [text for _, text in sorted(lines)]
    if moment is None:
        texts += filter(None, [history.unchanged(), "" if records else _last_decision(journal)])
    typer.echo("\n\n".join(texts))


def _last_decision(journal: Path) -> str:
    (last,) = deque((record for record in kept_records(journal) if record.raw), maxlen=1) or (None,)
    return "" if last is None else "\n".join(["The last decision:", *words.explain(last)])


def _restarts(journal: Path) -> Iterator[tuple[float, str]]:
    """Yield the time of each restart request of a supervised job (Unix seconds), and its text."""
    from rheostat.journal.control_channel import FOLDER
    from rheostat.restart.restart_state import RestartLog, restart_text

    for restart in RestartLog(journal / FOLDER).restarts():
        yield restart.requested_s, f"{words.when(restart.requested_s)}: {restart_text(restart)}"


def kept_records(journal: Path) -> Iterator[Record]:
    """Yield the records of a journal; raises BadInput if it does not exist or is empty."""
    if not journal.exists():
        raise BadInput(f"there is no journal {journal}")
    inside = journal / "journal"
    if journal.is_dir() and not segments(journal) and segments(inside):
        raise BadInput(f"there is no journal in {journal}, but there is one in {inside}")
    number = 0
    for number, (_, record) in enumerate(records(journal), 1):  # noqa: B007
        yield record
    if not number:
        raise BadInput(f"the journal {journal} holds no records yet")


def _at(kept: Iterable[Record], moment_s: float, journal: Path) -> Record:
    """Return the newest record up to a time (s); raises BadInput if the journal begins later."""
    newest: Record | None = None
    first_s, last_s = math.inf, -math.inf
    for record in kept:
        first_s, last_s = min(first_s, record.t_s), max(last_s, record.t_s)
        if record.t_s <= moment_s and (newest is None or record.t_s >= newest.t_s):
            newest = record
    span = f"from {words.when(first_s)} to {words.when(last_s)}"
    if newest is None:
        raise BadInput(
            f"--at {words.when(moment_s)} is before the journal {journal}, which extends {span}"
        )
    if moment_s > last_s:
        typer.echo(
            f"--at {words.when(moment_s)} is after the journal {journal}, which extends {span};"
            " this is its last record:",
            err=True,
        )
    return newest


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = _of_date(text)
    if not math.isfinite(seconds):
        raise BadInput(f"--at must be a finite time, but it is {text!r}")
    return seconds


def _of_date(text: str) -> float:
    try:
        read = datetime.fromisoformat(text.removesuffix("Z"))
    except ValueError:
        raise BadInput(
            f"--at must be seconds or a UTC time like 2026-01-31T09:30, but it is {text!r}"
        ) from None
    return (read if read.tzinfo else read.replace(tzinfo=timezone.utc)).timestamp()
