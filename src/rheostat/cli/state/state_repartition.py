"""``rheostat state repartition``, ``undo`` and ``repair``: change a stopped checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import AsJson, Out, emit

if TYPE_CHECKING:
    from rheostat.repartition.protocol.repartition_log import RepartitionState

StoppedCheckpoint = Annotated[
    str,
    typer.Argument(
        help="The checkpointLocation of a stopped query: a folder of this computer, of HDFS or of"
        " S3 (s3a://).",
        metavar="CHECKPOINT",
    ),
]

Sink = Annotated[
    str,
    typer.Option(
        help="The folder that the query writes files to, if its sink is one of files (parquet,"
        " json, csv, orc, text): its log gets an entry for the repartition.",
        metavar="FOLDER",
        show_default=False,
    ),
]

WORDS = {
    "begun": "writing the new state",
    "written": "comparing both states",
    "verified": "the states are equal",
    "locked": "putting the files in their places",
    "placed": "the files are in their places",
    "committed": "the new number is in force",
    "withdrawing": "rolling back",
    "unlocked": "the old number is in force",
}
"""What is shown of each phase."""


def repartition(
    checkpoint: StoppedCheckpoint,
    partitions: Annotated[int, typer.Option("--partitions", help="The new number of partitions.")],
    sink: Sink = "",
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Give a stopped query another number of state partitions, with every row verified.

    No data is lost if it is killed: the same command continues, rheostat state undo goes back.
    A query with a file sink needs --sink: without it, Spark rejects the next compaction of its log.

    Example: rheostat state repartition /data/checkpoints/orders --partitions 48
    """
    from rheostat.repartition.spark_repartition import repartition_here

    with _shown_phases() as progress:
        state = repartition_here(checkpoint, partitions, progress, sink)
    emit(_state_json(state), as_json, out, lambda: _show(state, checkpoint))


def undo(checkpoint: StoppedCheckpoint, as_json: AsJson = False, out: Out = None) -> None:
    """Undo the newest repartition of a stopped query, whether it has completed or not.

    This is possible until the query plans a batch with the new number; after that, repartition to
    the old number.

    Example: rheostat state undo /data/checkpoints/orders
    """
    from rheostat.repartition.spark_repartition import undo_here

    with _shown_phases() as progress:
        state = undo_here(checkpoint, progress)
    number = state.plan.partitions_before
    emit(
        _state_json(state),
        as_json,
        out,
        lambda: typer.echo(f"{checkpoint} has {number} state partitions again, as before."),
    )


def repair(
    checkpoint: StoppedCheckpoint, sink: Sink = "", as_json: AsJson = False, out: Out = None
) -> None:
    """Undo a repartition that Spark has started or rejected and that left a query unstartable.

    Files taken out of the checkpoint are kept in its folder _rheostat/attic. With --sink, only the
    log of the query's file sink is repaired, where a completed repartition has no entry
    (BATCH_METADATA_NOT_FOUND).

    Example: rheostat state repair /data/checkpoints/orders
    """
    from rheostat.repartition.spark_repartition import repair_here, repair_sink_here

    if sink:
        batches = repair_sink_here(checkpoint, sink)
        numbers = ", ".join(map(str, batches)) or "no batch"
        message = f"{sink}: {numbers} got an empty entry. Start the query."
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


@contextmanager
def _shown_phases() -> Iterator[Callable[[str, int, int], None]]:
    """Show the progress of a repartition on a terminal; yield the callback that updates it."""
    from rich.console import Console

    from rheostat.repartition.protocol.repartition_runner import quiet

    console = Console(stderr=True)
    if not console.is_terminal:
        yield quiet
        return
    with console.status("inspecting the checkpoint") as status:
        yield lambda phase, done, total: status.update(
            WORDS.get(phase, phase) + (f": {done} of {total}" if total else "")
        )


def _state_json(state: RepartitionState) -> dict[str, Any]:
    """Return the state of a repartition as JSON values."""
    plan, written = state.plan, state.written
    stores = (
        [
            {
                "operator": store.operator,
                "store": store.name,
                "rows": count.rows,
                "bytes": count.bytes,
                "checksum": f"{count.checksum & (2**64 - 1):016x}",
            }
            for store, count in sorted(written.after.items())
        ]
        if written
        else []
    )
    return {
        "phase": state.phase,
        "batch": plan.new_batch,
        "partitions_before": plan.partitions_before,
        "partitions": plan.partitions,
        "reason": state.reason,
        "stores": stores,
        "files": len(written.files) if written else 0,
        "file_bytes": sum(file.bytes for file in written.files) if written else 0,
        "seconds": round(max(state.times_s.values()) - min(state.times_s.values()), 3),
    }


def _show(state: RepartitionState, checkpoint: str) -> None:
    result = _state_json(state)
    rows = sum(store["rows"] for store in result["stores"])
    typer.echo(
        f"{Path(checkpoint)} has {result['partitions']} state partitions (it had"
        f" {result['partitions_before']}): {rows:,} rows in {len(result['stores'])}"
        f" {'store' if len(result['stores']) == 1 else 'stores'}, each verified, in"
        f" {result['seconds']:.1f} s."
    )
    typer.echo("Start the query as before. Until its next batch, rheostat state undo reverts this.")
    if not state.plan.sink:
        typer.echo("If it has a file sink: rheostat state undo, then repeat with --sink FOLDER.")
