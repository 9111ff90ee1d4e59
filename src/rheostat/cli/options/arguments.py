"""Arguments that several commands take, each defined once."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from rheostat.errors import BadInput

_SPAN = re.compile(r"(\d+)([dh])")

PolicyName = Annotated[
    str, typer.Option("--policy", help="Policy by name, or your own as module:Class.")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--set", help="A parameter of the policy, name=value; repeat it."),
]
Floor = Annotated[int, typer.Option("--min", help="Floor of the number of executors.")]
Interval = Annotated[
    float | None,
    typer.Option(
        "--interval", help="Seconds between two decisions; default: the recording's own step."
    ),
]


def span_s(text: str) -> float:
    """Return the seconds of ``--since``, such as 7d or 12h; raises BadInput for another text."""
    span = _SPAN.fullmatch(text)
    if span is None or not int(span[1]):
        raise BadInput(f"--since must be a time such as 7d or 12h, but it is {text!r}")
    return int(span[1]) * (86_400.0 if span[2] == "d" else 3600.0)
