"""``rheostat state inspect``: operators, stores and partitions of a checkpoint."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import AsJson, Out, emit, plain_table, working

if TYPE_CHECKING:
    from rheostat.repartition.checkpoints.inspection import Inspection

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


def inspect(
    checkpoint: CheckpointName, rows: Rows = True, as_json: AsJson = False, out: Out = None
) -> None:
    """Show the contents of a checkpoint: operators, stores, rows and bytes per partition, and skew.

    Nothing is written, and a running query is not affected.

    Example: rheostat state inspect /data/checkpoints/orders --no-rows
    """
    from rheostat.repartition.checkpoint_look import look

    with working("reading the state"):
        inspection = look(checkpoint, rows=rows).inspection
    emit(_inspection_json(inspection), as_json, out, lambda: _show(inspection))


def _inspection_json(inspection: Inspection) -> dict[str, Any]:
    offset_lines = asdict(inspection)
    return offset_lines | {"in_use": inspection.in_use}


def _show(inspection: Inspection) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for line in _lines(inspection):
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
    console.print(_partitions(inspection))


def _lines(inspection: Inspection) -> list[str]:
    from rheostat.repartition.checkpoints.kafka_sources import offset_lines as source_lines

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
        lines += source_lines(source, inspection.last_batch)
    refused = sorted({store.refusal for store in inspection.stores if store.refusal})
    return lines + refused


def _partitions(inspection: Inspection) -> Any:
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
