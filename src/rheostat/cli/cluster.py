"""``rheostat cluster up|down``: Spark Standalone on this computer."""

from __future__ import annotations

from typing import Annotated

import typer

from rheostat.cli.output import AsJson, tell

app = typer.Typer(
    help="A Spark Standalone cluster on this computer: one master, one worker, loopback only.",
    no_args_is_help=True,
)


@app.command()
def up(
    cores: Annotated[int, typer.Option(help="Executors of one core that it can hold.")] = 8,
    port: Annotated[
        int | None, typer.Option(help="The master's port; default 7077, or a free one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start the cluster, print its URL and return; it runs until `rheostat cluster down`.

    Example: rheostat cluster up --cores 8
    """
    from rheostat.local import standalone as cluster

    url = cluster.up(cores=cores, port=port)
    tell({"url": url, "cores": cores}, as_json, None, lambda: typer.echo(url))


@app.command()
def down(as_json: AsJson = False) -> None:
    """End the cluster that `rheostat cluster up` started, with all its executors.

    Example: rheostat cluster down
    """
    from rheostat.local import standalone as cluster

    ended = cluster.down()
    said = f"ended {ended}" if ended else "no cluster was up"
    tell({"ended": ended}, as_json, None, lambda: typer.echo(said))
