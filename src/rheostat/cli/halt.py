"""``rheostat halt``: the kill switch, pulled from outside."""

from __future__ import annotations

from typing import Annotated

import typer

from rheostat.errors import BadInput, RheostatError


def halt(
    checkpoint: Annotated[
        str,
        typer.Argument(help="The checkpoint of one of its queries: a folder, hdfs://, s3a:// ..."),
    ],
    undo: Annotated[
        bool, typer.Option("--undo", help="Take the kill switch away; it holds for a next start.")
    ] = False,
) -> None:
    """Stop the autoscaler of a running application through the file system of its checkpoint.

    Within a tick it decides nothing any more; the application keeps its size. That holds for the
    next start of the query, too, until the switch is taken away.

    Example: rheostat halt hdfs://namenode/checkpoints/orders
    """
    from rheostat.spark.journaling.halting import pull, take_away

    try:
        file = take_away(checkpoint) if undo else pull(checkpoint)
    except BadInput:
        raise
    except OSError as fault:
        raise RheostatError(f"{checkpoint}: {fault}") from None
    typer.echo(f"{file} is {'gone' if undo else 'there'}")
