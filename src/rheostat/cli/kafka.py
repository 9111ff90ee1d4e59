"""``rheostat kafka up|down``: a Kafka broker on this computer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="A real Kafka broker on this computer: one node, KRaft, loopback only.",
    no_args_is_help=True,
)


@app.command()
def up(
    port: Annotated[int | None, typer.Option(help="The port; default 9092, or a free one.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--dir", help="Where its data are kept; default: the user's state folder."),
    ] = None,
    topic: Annotated[str | None, typer.Option(help="Create this topic, too.")] = None,
    partitions: Annotated[int, typer.Option(help="Partitions of that topic.", min=1)] = 8,
) -> None:
    """Start the broker, print its address and return; it runs until `rheostat kafka down`.

    Example: rheostat kafka up --topic bids --partitions 16
    """
    from rheostat.kafka import broker

    address = broker.up(port=port, folder=folder)
    if topic:
        broker.create_topic(address, topic, partitions)
    typer.echo(address)


@app.command()
def down() -> None:
    """End the broker that `rheostat kafka up` started; its data stay.

    Example: rheostat kafka down
    """
    from rheostat.kafka import broker

    ended = broker.down()
    typer.echo(f"ended {ended}" if ended else "no broker was up")
