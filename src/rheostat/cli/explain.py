"""``rheostat explain``: the decisions of a journal in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.output import out_option, write_out
from rheostat.errors import BadInput
from rheostat.journal import explanation as words
from rheostat.journal.reading import records
from rheostat.journal.record import to_line
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
    """Say in words why the size is what it is: what was seen, what the policy wanted, what each
    guard changed, how far it got.

    Without --at: every change of the target.

    Example: rheostat explain out/demo/journal --at 2026-01-31T09:30
    """
    if not journal.exists():
        raise BadInput(f"there is no journal {journal}")
    kept = (record for _, record in records(journal))
    asked = None if at is None else _seconds(at)
    found = (
        list(words.changes(_counted(kept, journal)))
        if asked is None
        else [_at(kept, asked, journal)]
    )
    if out:
        write_out(out, map(to_line, found))
    if as_json:
        typer.echo("\n".join(map(to_line, found)))
    else:
        typer.echo(
            "\n\n".join("\n".join(words.explain(record)) for record in found)
            or "The target was never changed."
        )


def _counted(kept: Iterable[Record], journal: Path) -> Iterator[Record]:
    """Hand the records on and refuse a journal that has none."""
    number = 0
    for number, record in enumerate(kept, 1):  # noqa: B007
        yield record
    if not number:
        raise BadInput(f"the journal {journal} holds no records")


def _at(kept: Iterable[Record], asked: float, journal: Path) -> Record:
    """Return the newest record up to a time; raises BadInput where the journal begins later."""
    found: Record | None = None
    first_s: float | None = None
    for record in _counted(kept, journal):
        first_s = record.t_s if first_s is None else first_s
        if record.t_s <= asked and (found is None or record.t_s >= found.t_s):
            found = record
    if found is None:
        raise BadInput(
            f"the journal {journal} begins at {words.when(first_s or 0.0)}, after"
            f" {words.when(asked)}"
        )
    return found


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
