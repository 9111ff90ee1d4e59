"""``rheostat connect-server``: a Spark Connect server, sized for all its clients' queries."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from rheostat.cli.options.options import explicit_options, takes
from rheostat.cli.run import run_app
from rheostat.cli.run.run_options import OutputOptions, Place, Sizing
from rheostat.config import AgentOptions, GuardOptions, JournalOptions, LoopOptions, StateOptions


@takes(
    sizing=Sizing,
    place=Place,
    output=OutputOptions,
    loop=LoopOptions,
    state=StateOptions,
    guards=GuardOptions,
    retention=JournalOptions,
    agent=AgentOptions,
)
def connect_server(
    context: typer.Context,
    address: Annotated[
        str, typer.Argument(help="Where clients find it: a port, or HOST:PORT.")
    ] = "15002",
    *,
    sizing: Sizing,
    place: Place,
    output: OutputOptions,
    loop: LoopOptions,
    state: StateOptions,
    guards: GuardOptions,
    retention: JournalOptions,
    agent: AgentOptions,
) -> int:
    """Run a Spark Connect server whose executors are sized for the streaming queries of all its
    clients.

    Spark's own plugin starts the server in the driver, at the loopback address unless another one
    is named: Spark Connect performs no authentication. Options and settings are those of
    `rheostat run`.

    Example: rheostat connect-server 15002 --master spark://host:7077 --min 1 --max 8
    """
    from rheostat.cli.run.run_sizing import Line
    from rheostat.spark.connect.address import SCRIPT, Address

    line = Line(
        script=SCRIPT,
        sizing=sizing,
        place=place,
        loop=loop,
        state=state,
        guards=guards,
        retention=retention,
        agent=agent,
        explicit=explicit_options(context),
    )
    request = replace(run_app.request_of(line), connect=Address.of(address))
    return run_app.go(request, [], output)
