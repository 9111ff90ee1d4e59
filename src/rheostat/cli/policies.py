"""``rheostat policies [NAME]``: the available policies, and the description of one."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rheostat.cli.output import out_option, plain_table, write_out
from rheostat.errors import BadInput

if TYPE_CHECKING:
    from rheostat.policies.description import Description


def policies(
    name: Annotated[
        str | None, typer.Argument(help="A policy, or your own as module:Class; none: list all.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: an object with a name, else a list of them.")
    ] = False,
    out: Annotated[Path | None, out_option()] = None,
) -> None:
    """List the policies; with a name: formula, parameters with units and defaults, source, and when
    it fails.

    Example: rheostat policies measured-throughput
    """
    from rheostat.policies.description import describe

    descriptions = [describe(name)] if name else _all()
    text = json.dumps(
        asdict(descriptions[0]) if name else [asdict(description) for description in descriptions],
        indent=2,
    )
    if out:
        write_out(out, [text])
    if as_json:
        typer.echo(text)
    elif name:
        _show(descriptions[0])
    elif not out:
        _list(descriptions)


def _all() -> list[Description]:
    """Describe the built-in policies and those of installed packages; skip broken ones."""
    from rheostat.policies.description import describe
    from rheostat.policies.registry import POLICIES
    from rheostat.policies.third_party import third_party

    descriptions = [describe(policy) for policy in POLICIES]
    for policy in third_party():
        try:
            descriptions += [describe(policy)] if policy not in POLICIES else []
        except BadInput as broken:
            typer.echo(f"rheostat: skipped: {broken}", err=True)
    return descriptions


def _list(descriptions: list[Description]) -> None:
    from rich.console import Console

    table = plain_table("policy", "what it does")
    for description in descriptions:
        from_elsewhere = "" if description.origin == "rheostat" else f" ({description.origin})"
        table.add_row(description.name, description.title + from_elsewhere)
    Console().print(table)
    typer.echo("\nMore about one: rheostat policies NAME")


def _show(description: Description) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]{escape(description.name)}[/bold]\n\n{escape(description.summary)}\n")
    for title, text in (
        ("formula", description.formula),
        ("source", description.source),
        ("fails when", description.fails_when),
    ):
        console.print(f"[bold]{title}[/bold]\n  " + escape(text.replace("\n", "\n  ")) + "\n")
    table = plain_table("parameter", "default", "unit", "description")
    for parameter in description.parameters:
        default = "none: must be given" if parameter.default is None else str(parameter.default)
        table.add_row(
            *(escape(text) for text in (parameter.name, default, parameter.unit, parameter.help))
        )
    Console(highlight=False).print(table if description.parameters else "It has no parameters.")
