"""``rheostat state repair``: a checkpoint that a repartition of Spark's own has broken."""

from __future__ import annotations

from dataclasses import asdict

import typer

from rheostat.cli.output import AsJson, Out, emit
from rheostat.cli.state.state_repartition import Sink, StoppedCheckpoint


def repair(
    checkpoint: StoppedCheckpoint, sink: Sink = "", as_json: AsJson = False, out: Out = None
) -> None:
    """Take back a repartition that Spark has begun, or refused, and that left a query unstartable.

    What is taken out of the checkpoint is kept in its folder _rheostat/attic. With --sink only the
    log of the query's file sink is mended, in which a finished repartition has no entry
    (BATCH_METADATA_NOT_FOUND).

    Example: rheostat state repair /data/checkpoints/orders
    """
    from rheostat.repartition.spark_repartition import repair_here, repair_sink_here

    if sink:
        batches = repair_sink_here(checkpoint, sink)
        numbers = ", ".join(map(str, batches)) or "no batch"
        message = f"{sink}: {numbers} got an entry without files. Start the query."
        emit({"sink": sink, "batches": batches}, as_json, out, lambda: typer.echo(message))
        return
    done = repair_here(checkpoint)
    emit(
        asdict(done),
        as_json,
        out,
        lambda: typer.echo(
            f"{checkpoint} is as batch {done.batch} left it, with {done.partitions} state"
            f" partitions: {len(done.moved)} files of the unfinished repartition are in"
            f" {done.attic}. Start the query."
        ),
    )
