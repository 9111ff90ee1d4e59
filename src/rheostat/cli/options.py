"""Turns the option groups of ``config.py`` into options of a command, with the names, defaults and
help of the dataclass.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat.policies.registry import create
from rheostat.policies.third_party import make_importable

_SPAN = re.compile(r"(\d+)([dh])")
PolicyName = Annotated[
    str, typer.Option("--policy", help="Policy by name, or your own as module:Class.")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--set", help="A parameter of the policy, name=value; repeatable."),
]
Floor = Annotated[int, typer.Option("--min", help="Floor of the number of executors.")]
Interval = Annotated[
    float | None,
    typer.Option(
        "--interval", help="Seconds between two decisions; default: the recording's own step."
    ),
]
Price = Annotated[
    float | None,
    typer.Option(
        "--price-per-slot-hour", help="Price of a slot-hour; default: that of the job.", min=0
    ),
]
_Command = TypeVar("_Command", bound=Callable[..., Any])


def pairs(
    given: Sequence[str], what: str = "parameter", example: str = "factor=0.3"
) -> dict[str, str]:
    """Return ``name=value`` texts as a dict; raises BadInput for malformed or duplicate ones."""
    values: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(
                f"a {what} is written name=value, such as {example}, but this one is {text!r}"
            )
        if name.strip() in values:
            raise BadInput(
                f"the {what} {name.strip()} is set twice: {values[name.strip()]!r} and"
                f" {value.strip()!r}"
            )
        values[name.strip()] = value.strip()
    return values


def takes(**groups: type[Any]) -> Callable[[_Command], _Command]:
    """Add the fields of option groups to a command, and pass it each group as the argument of that
    name, which may be one of ``**groups``.

    ``@takes(loop=LoopOptions)`` adds ``--interval``, ``--cooldown-out`` and so on; flags omit the
    unit. Metadata: ``help``, ``flag`` (name), ``least`` (minimum), ``repeated``.
    """

    def decorate(command: _Command) -> _Command:
        hints = get_type_hints(command, include_extras=True)
        own = [
            parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in inspect.signature(command).parameters.items()
            if name not in groups and parameter.kind is not parameter.VAR_KEYWORD
        ]
        added = [
            _parameter(field, get_type_hints(group)[field.name])
            for group in groups.values()
            for field in fields(group)
        ]

        @wraps(command)
        def with_groups(**given: Any) -> Any:
            made = {
                name: group(**{field.name: _value(field, given) for field in fields(group)})
                for name, group in groups.items()
            }
            return command(**given, **made)

        with_groups.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
        with_groups.__annotations__ = {
            parameter.name: parameter.annotation for parameter in (*own, *added)
        }
        del with_groups.__wrapped__  # typer would read the signature of the wrapped function
        return with_groups  # type: ignore[return-value]

    return decorate


def explicit_options(context: typer.Context) -> frozenset[str]:
    """Return the names of a command's parameters that the user has set on the command line."""
    usual = ("DEFAULT", "DEFAULT_MAP")
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(
        name for name, source in sources.items() if source and source.name not in usual
    )


def _parameter(field: Field[Any], kind: Any) -> inspect.Parameter:
    metadata = field.metadata
    option = typer.Option(
        metadata.get("flag") or "--" + field.name.removesuffix("_s").replace("_", "-"),
        help=metadata["help"][:1].upper() + metadata["help"][1:] + ".",
        min=metadata.get("least"),
    )
    repeated = metadata.get("repeated")
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if repeated else field.default,
        annotation=Annotated[list[str] | None if repeated else kind, option],
    )


def _value(field: Field[Any], given: dict[str, Any]) -> Any:
    """Remove a field's value from ``given`` and return it; a repeated one may be absent (None)."""
    value = given.pop(field.name)
    return field.default if value is None and field.metadata.get("repeated") else value


def chosen(policy: str, given: Sequence[str] | None, slo: Slo | None = None) -> dict[str, str]:
    """Return the policy's parameters if it can be created; ``module:Class`` may be in the current
    folder. Raises BadInput for an unknown policy and for wrong parameters.
    """
    make_importable(policy, Path.cwd())
    parameters = pairs(given or ())
    create(policy, parameters, slo)
    return parameters


def span_s(text: str) -> float:
    """Return the seconds of ``--since``, such as 7d or 12h; raises BadInput for other texts."""
    span = _SPAN.fullmatch(text)
    if span is None or not int(span[1]):
        raise BadInput(f"--since must be a time such as 7d or 12h, but it is {text!r}")
    return int(span[1]) * (86_400.0 if span[2] == "d" else 3600.0)
