"""``rheostat state repair``: a checkpoint that a repartition of Spark's own has broken."""

from __future__ import annotations

from dataclasses import asdict

import typer

from rheostat.cli.output import AsJson, Out, tell
from rheostat.cli.state_rescale import OwnCheckpoint


def repair(checkpoint: OwnCheckpoint, as_json: AsJson = False, out: Out = None) -> None:
    """Take back a repartition that Spark has begun, or refused, and that left a query unstartable.

    What is taken out of the checkpoint is kept in its folder _rheostat/attic.

    Example: rheostat state repair /data/checkpoints/orders
    """
    from rheostat.repartition.repair import repair as cure

    done = cure(checkpoint)
    tell(
        asdict(done),
        as_json,
        out,
        lambda: typer.echo(
            f"{checkpoint} is as batch {done.batch} left it, with {done.partitions} state"
            f" partitions: {len(done.moved)} files of the unfinished repartition are in"
            f" {done.attic}. Start the query."
        ),
    )
