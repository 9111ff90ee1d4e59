"""``rheostat kafka up|down``: a Kafka broker on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.output import AsJson, emit


def up(
    port: Annotated[int | None, typer.Option(help="The port; default 9092, or a free one.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--dir", help="Where its data are kept; default: the user's state folder."),
    ] = None,
    topic: Annotated[str | None, typer.Option(help="Create this topic, too.")] = None,
    partitions: Annotated[int, typer.Option(help="Partitions of that topic.", min=1)] = 8,
    as_json: AsJson = False,
) -> None:
    """Start the broker, print its address and return; it runs until `rheostat kafka down`.

    Example: rheostat kafka up --topic bids --partitions 16
    """
    from rheostat_lab.services import broker

    topics = {} if topic is None else {topic: partitions}
    address = broker.up(port=port, folder=folder, topics=topics)
    result = {"bootstrap": address, "topic": topic}
    emit(result, as_json, None, lambda: typer.echo(address))


def down(as_json: AsJson = False) -> None:
    """End the broker that `rheostat kafka up` started; its data are kept.

    Example: rheostat kafka down
    """
    from rheostat_lab.services import broker

    ended = broker.down()
    message = f"ended {ended}" if ended else "no broker was running"
    emit({"ended": ended}, as_json, None, lambda: typer.echo(message))
