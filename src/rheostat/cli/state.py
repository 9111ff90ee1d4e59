"""``rheostat state``: inspect the state of a stopped query, and repartition it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import AsJson, Out, emit, plain_table, working
from rheostat.plural import counted

if TYPE_CHECKING:
    from rheostat.repartition.inspection import Inspection
    from rheostat.repartition.plan import RepartitionPlan
    from rheostat.repartition.repartition_log import RepartitionState

app = typer.Typer(
    help="The state of a stopped query: inspect its checkpoint, change the number of its"
    " partitions.",
    no_args_is_help=True,
)

CheckpointName = Annotated[
    str,
    typer.Argument(
        help="The checkpointLocation of a query: a folder, or what Spark reads (s3a://, hdfs://).",
        metavar="CHECKPOINT",
    ),
]
Rows = Annotated[
    bool,
    typer.Option(
        "--rows/--no-rows",
        help="Count the rows with Spark, which reads the state once; otherwise only the files are"
        " inspected.",
    ),
]

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


@app.command()
def inspect(
    checkpoint: CheckpointName, rows: Rows = True, as_json: AsJson = False, out: Out = None
) -> None:
    """Show the contents of a checkpoint: operators, stores, rows and bytes per partition, and skew.

    Nothing is written, and a running query is not affected.

    Example: rheostat state inspect /data/checkpoints/orders --no-rows
    """
    from rheostat.repartition.plan import look

    with working("reading the state"):
        inspection, _ = look(checkpoint, rows=rows)
    shown = asdict(inspection) | {"in_use": inspection.in_use}
    emit(shown, as_json, out, lambda: _show_inspection(inspection))


def _show_inspection(inspection: Inspection) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for line in _inspection_lines(inspection):
        console.print(line)
    columns = ("operator", "store", "rows", "bytes", "file bytes", "partitions", "skew")
    table = plain_table(*columns)
    for store in inspection.stores:
        table.add_row(
            f"{store.operator} {store.operator_name}",
            store.store,
            _number(store.rows),
            _number(store.bytes),
            _number(store.file_bytes),
            f"{len(store.partitions)}",
            "" if store.skew is None else f"{store.skew:.2f}",
        )
    console.print(table)
    console.print(_partition_table(inspection))


def _inspection_lines(inspection: Inspection) -> list[str]:
    from rheostat.repartition.inspection import offset_lines

    lines = [
        f"{inspection.location}: {inspection.partitions} state partitions, {inspection.provider},"
        f" checkpoint format {inspection.format}, last committed batch {inspection.last_batch}"
    ]
    if inspection.in_use:
        lines.append(
            f"a query may be using it: its logs were written {inspection.quiet_s:.0f} s ago"
        )
    elif inspection.quiet_s is not None:
        lines.append(f"no query has written to its logs for {inspection.quiet_s:.0f} s")
    if inspection.unended is not None:
        lines.append(inspection.unended)
    elif inspection.unfinished_partitions is not None:
        lines.append(
            f"a repartition to {inspection.unfinished_partitions} partitions was left unfinished"
        )
    elif inspection.uncommitted:
        lines.append(f"planned but not committed: batch {inspection.uncommitted[-1]}")
    if inspection.missing is not None:
        lines.append(f"{inspection.missing} is missing: the state cannot be loaded")
    for source in inspection.sources:
        lines += offset_lines(source, inspection.last_batch)
    refused = sorted({store.refusal for store in inspection.stores if store.refusal})
    return lines + refused


def _partition_table(inspection: Inspection) -> Any:
    table = plain_table("operator", "store", "partition", "rows", "bytes", "file bytes")
    for store in inspection.stores:
        for part in store.partitions:
            table.add_row(
                str(store.operator),
                store.store,
                str(part.partition),
                _number(part.rows),
                _number(part.bytes),
                _number(part.file_bytes),
            )
    return table


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


@app.command()
def plan(
    checkpoint: CheckpointName,
    partitions: Annotated[int, typer.Option(help="The requested number of state partitions.")],
    readers: Annotated[
        int | None,
        typer.Option(
            help="Show which tasks read Kafka's partitions with this minPartitions of the source.",
            min=1,
        ),
    ] = None,
    rows: Rows = True,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Show what a change of the number of state partitions would do, and what prevents it.

    Nothing is written. The exit code is 0 even if the change is impossible; the output says why.

    Example: rheostat state plan /data/checkpoints/orders --partitions 48
    """
    from rheostat.repartition.inspection import offset_lines
    from rheostat.repartition.plan import look, plan
    from rheostat.repartition.preflight import require_number

    require_number(partitions)
    with working("reading the state"):
        inspection, disk_free_bytes = look(checkpoint, rows=rows)
    planned = plan(inspection, partitions, os.cpu_count() or 1, disk_free_bytes)
    sources = [
        line
        for source in inspection.sources
        for line in offset_lines(source, inspection.last_batch, readers)
    ]
    shown = asdict(planned) | {"sources": sources}
    emit(shown, as_json, out, lambda: typer.echo("\n".join([*_plan_lines(planned), *sources])))


def _plan_lines(planned: RepartitionPlan) -> list[str]:
    lines = [
        f"{planned.location}: {planned.partitions_before} -> {planned.partitions} state partitions"
    ]
    if planned.refusals:
        lines += [f"not possible now: {refusal}" for refusal in planned.refusals]
    else:
        way = "through a shuffle" if planned.shuffle else "without a shuffle"
        lines.append(
            f"{planned.stores} store(s) rewritten {way}: {planned.tasks} tasks,"
            f" {planned.slots} at once"
        )
    if planned.duration_s is not None and planned.disk_bytes is not None:
        lines.append(
            f"about {planned.duration_s:,.0f} s; {planned.rows or 0:,} rows; the new version takes up"  # noqa: E501
            f" to {planned.disk_bytes / 1e6:,.1f} MB in addition to the old one"
        )
    if planned.coalesce:
        lines.append(f"or: {planned.coalesce}")
    return lines


@app.command()
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
    emit(_state_json(state), as_json, out, lambda: _show_state(state, checkpoint))


@app.command()
def undo(checkpoint: StoppedCheckpoint, as_json: AsJson = False, out: Out = None) -> None:
    """Undo the newest repartition of a stopped query, whether it has completed or not.

    This is possible until the query plans a batch with the new number; after that, repartition to
    the old number.

    Example: rheostat state undo /data/checkpoints/orders
    """
    from rheostat.repartition import spark_repartition

    with _shown_phases() as progress, spark_repartition.opened(checkpoint) as (files, _):
        state = spark_repartition.undo(checkpoint, files=files, progress=progress)
    number = state.plan.partitions_before
    emit(
        _state_json(state),
        as_json,
        out,
        lambda: typer.echo(f"{checkpoint} has {number} state partitions again, as before."),
    )


@app.command()
def repair(
    checkpoint: StoppedCheckpoint, sink: Sink = "", as_json: AsJson = False, out: Out = None
) -> None:
    """Undo a repartition that Spark has started or rejected and that left a query unstartable.

    Files taken out of the checkpoint are kept in its folder _rheostat/attic. With --sink, only the
    log of the query's file sink is repaired, where a completed repartition has no entry
    (BATCH_METADATA_NOT_FOUND).

    Example: rheostat state repair /data/checkpoints/orders
    """
    from rheostat.repartition import repair
    from rheostat.repartition.spark_repartition import full_name, opened

    if sink:
        with opened(checkpoint) as (files, _):
            batches = repair.repair_sink(checkpoint, full_name(sink), files)
        numbers = ", ".join(map(str, batches)) or "no batch"
        message = f"{sink}: {numbers} got an empty entry. Start the query."
        emit({"sink": sink, "batches": batches}, as_json, out, lambda: typer.echo(message))
        return
    with opened(checkpoint) as (files, _):
        done = repair.repair(checkpoint, files)
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

    from rheostat.repartition.repartition_runner import quiet

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
    stores = [
        {
            "operator": store.operator,
            "store": store.name,
            "rows": count.rows,
            "bytes": count.bytes,
            "checksum": f"{count.checksum & (2**64 - 1):016x}",
        }
        for store, count in sorted(written.after.items() if written else ())
    ]
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


def _show_state(state: RepartitionState, checkpoint: str) -> None:
    result = _state_json(state)
    rows = sum(store["rows"] for store in result["stores"])
    typer.echo(
        f"{Path(checkpoint)} has {result['partitions']} state partitions (it had"
        f" {result['partitions_before']}): {rows:,} rows in"
        f" {counted(len(result['stores']), 'store')}, each verified, in"
        f" {result['seconds']:.1f} s."
    )
    typer.echo("Start the query as before. Until its next batch, rheostat state undo reverts this.")
    if not state.plan.sink:
        typer.echo("If it has a file sink: rheostat state undo, then repeat with --sink FOLDER.")
