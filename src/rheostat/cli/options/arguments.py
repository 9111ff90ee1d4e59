"""Arguments that several commands take, each defined once."""

from __future__ import annotations

from typing import Annotated

import typer

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
