"""``rheostat policies [NAME]``: the available policies, and the description of one."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from rheostat.cli.output import Out, emit, plain_table
from rheostat.errors import BadInput
from rheostat.policies.parameters import parameters
from rheostat.policies.registry import POLICIES, find
from rheostat.policies.third_party import origin, third_party

NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter that ``--set name=value`` sets; ``default`` is None for a required one."""

    name: str
    default: float | int | str | None
    unit: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What ``rheostat policies NAME`` prints and ``docs/policies`` contains."""

    name: str
    origin: str
    """The distribution of the policy; ``own`` for ``module:Class``."""

    title: str
    """The first paragraph of the module's docstring."""

    summary: str
    """The docstring of the class."""

    formula: str
    source: str
    fails_when: str
    parameters: tuple[Parameter, ...]


def describe(name: str) -> Description:
    """Return the description of a policy, also of ``module:Class``; raises BadInput if unknown."""
    policy = find(name)
    about = getattr(policy, "about", None)
    module = inspect.getmodule(policy)
    title = (module.__doc__ if module else None) or NOT_STATED
    return Description(
        name=name,
        origin=_origin(name),
        title=" ".join(title.strip().split("\n\n")[0].split()),
        summary=inspect.getdoc(policy) or NOT_STATED,
        formula=getattr(about, "formula", NOT_STATED),
        source=getattr(about, "source", NOT_STATED),
        fails_when=getattr(about, "fails_when", NOT_STATED),
        parameters=tuple(_parameter(field) for field in parameters(policy)),
    )


def _origin(name: str) -> str:
    others = third_party()
    if name in POLICIES:
        return "rheostat"
    return origin(others[name]) if name in others else "own"


def _parameter(field: dataclasses.Field[object]) -> Parameter:
    default = field.default if isinstance(field.default, float | int | str) else None
    return Parameter(
        name=field.name,
        default=default,
        unit=field.metadata.get("unit", ""),
        help=field.metadata.get("help", ""),
    )


def policies(
    name: Annotated[
        str | None, typer.Argument(help="A policy, or your own as module:Class; none: list all.")
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print JSON: one object if a policy is named, otherwise a list."
        ),
    ] = False,
    out: Out = None,
) -> None:
    """List the policies; with a name: formula, parameters with units and defaults, source, and
    failure conditions.

    Example: rheostat policies measured-throughput
    """
    descriptions = [describe(name)] if name else _all()
    values = [asdict(description) for description in descriptions]
    result, show = (values[0], _show) if name else (values, _list)
    emit(result, as_json, out, lambda: show(descriptions))


def _all() -> list[Description]:
    """Describe the built-in policies and those of installed packages; skip broken ones."""
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


def _show(descriptions: list[Description]) -> None:
    from rich.console import Console
    from rich.markup import escape

    (description,) = descriptions
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
        default = "none: required" if parameter.default is None else str(parameter.default)
        table.add_row(
            *(escape(text) for text in (parameter.name, default, parameter.unit, parameter.help))
        )
    Console(highlight=False).print(table if description.parameters else "It has no parameters.")
