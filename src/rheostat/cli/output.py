"""The output of a command: ``--json`` prints the result, ``--out FILE`` writes the same text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Step = TypeVar("Step")

SHOWN = 40
"""Rows of a long table that are printed; JSON has all."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def emit(result: Any, as_json: bool, out: Path | None, show: Callable[[], None]) -> None:
    """Write the result to ``out`` if given, and print it as JSON or ``show`` it."""
    text = json.dumps(result, indent=2, allow_nan=False)
    if out:
        write_out(out, [text])
    if as_json:
        typer.echo(text)
    else:
        show()


def emit_lines(lines: Iterable[str], as_json: bool, out: Path | None) -> None:
    """Write the lines to ``out`` if given, print them, or both, each as soon as it is known."""
    shown = map(_printed, lines) if as_json else lines
    if out:
        write_out(out, shown)
    else:
        for _ in shown:
            pass  # the lines are printed as they are made


def _printed(line: str) -> str:
    print(line)
    return line


def print_first(console: Console, table: Table, rows: Sequence[Sequence[str]]) -> None:
    """Print a table with the first ``SHOWN`` rows, and how many are left out."""
    for row in rows[:SHOWN]:
        table.add_row(*row)
    console.print(table)
    if len(rows) > SHOWN:
        console.print(f"... and {len(rows) - SHOWN} more; all of them: --json")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show the current activity on standard error if that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def plain_table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table in the style of all commands: bold header, no lines."""
    from rich.table import Table

    return Table(*columns, box=None, header_style="bold", title=title, title_justify="left")


def watched(steps: Iterable[Step], what: str, total: int) -> Iterable[Step]:
    """Yield the steps, with a progress bar on a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(
        steps, what, total=total, console=console, transient=True, disable=not console.is_terminal
    )


def write_out(path: Path, lines: Iterable[str]) -> None:
    """Write the lines to a file atomically; raises BadInput if that is impossible."""
    from rheostat.machine.atomic_file import replacing

    with replacing(path) as fresh, fresh.open("w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def _checked(path: Path | None) -> Path | None:
    if path:
        from rheostat.machine.atomic_file import require_writable

        require_writable(path)
    return path


def out_option(text: str = "Write the same JSON to this file.") -> Any:
    """Return the option ``--out FILE``, which is validated before anything is computed."""
    return typer.Option("--out", help=text, callback=_checked, metavar="FILE")


Out = Annotated[Path | None, out_option()]
