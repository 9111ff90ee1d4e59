"""How a command tells its result: ``--json`` prints it, ``--out FILE`` writes the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import typer

from rheostat.errors import BadInput

Step = TypeVar("Step")


def tell(
    told: Any, as_json: bool, out: Path | None, show: Callable[[], None], indent: int = 2
) -> None:
    """Write the result to ``out`` if that is asked for, and print it as JSON or ``show`` it; raises
    BadInput as ``write_out`` does.
    """
    text = json.dumps(told, indent=indent, allow_nan=False)
    if out:
        write_out(out, [text])
    if as_json:
        typer.echo(text)
    else:
        show()


def watched(steps: Iterable[Step], what: str, total: int) -> Iterable[Step]:
    """Yield the steps and show on a terminal how far they are."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(
        steps, what, total=total, console=console, transient=True, disable=not console.is_terminal
    )


def write_out(path: Path, lines: Iterable[str]) -> None:
    """Write the lines to a file beside it and put it in its place when all are there; raises
    BadInput where that cannot be.
    """
    fresh = path.with_name(path.name + ".part")
    try:
        with fresh.open("w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        fresh.replace(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}") from None
    finally:
        fresh.unlink(missing_ok=True)
