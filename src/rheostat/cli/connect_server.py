"""``rheostat connect-server``: a Spark Connect server, autoscaled for all clients' queries."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from rheostat.cli import run
from rheostat.cli.options import explicit_options, takes
from rheostat.cli.run import OutputOptions, RunOptions


@takes(**{name: group for name, group in run.OPTION_GROUPS.items() if name != "restarts"})
def connect_server(
    context: typer.Context,
    address: Annotated[
        str, typer.Argument(help="Address for clients: a port, or HOST:PORT.")
    ] = "15002",
    *,
    options: RunOptions,
    output: OutputOptions,
    **groups: Any,
) -> int:
    """Run a Spark Connect server and autoscale it for the streaming queries of all its clients.

    Spark's own plugin starts the server in the driver, by default on the loopback address: Spark
    Connect performs no authentication. Options and settings are those of `rheostat run`.

    Example: rheostat connect-server 15002 --master spark://host:7077 --min 1 --max 8
    """
    from rheostat.spark.connect_server import SCRIPT, Address

    cli = options.arguments(groups, explicit_options(context))
    request = run.request_of(SCRIPT, options, cli)
    return run.execute(replace(request, connect=Address.of(address)), [], output)
