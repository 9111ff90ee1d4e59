"""``rheostat state undo``: a repartition taken back."""

from __future__ import annotations

import typer

from rheostat.cli.output import AsJson, Out, emit
from rheostat.cli.state.state_repartition import StoppedCheckpoint, shown_phases, state_json


def undo(checkpoint: StoppedCheckpoint, as_json: AsJson = False, out: Out = None) -> None:
    """Take the newest repartition of a stopped query back, ended or not.

    It is possible until the query plans a batch with the new number; after that, repartition to the
    old number.

    Example: rheostat state undo /data/checkpoints/orders
    """
    from rheostat.repartition.spark_repartition import undo_here

    with shown_phases() as progress:
        state = undo_here(checkpoint, progress)
    number = state.plan.partitions_before
    emit(
        state_json(state),
        as_json,
        out,
        lambda: typer.echo(f"{checkpoint} has {number} state partitions again, as before."),
    )
