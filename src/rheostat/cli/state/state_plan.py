"""``rheostat state plan``: what a repartition would do."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from rheostat.cli.output import AsJson, Out, emit, working
from rheostat.cli.state.state_inspect import CheckpointName, Rows

if TYPE_CHECKING:
    from rheostat.repartition.plan import RepartitionPlan


def plan(
    checkpoint: CheckpointName,
    partitions: Annotated[int, typer.Option(help="The wanted number of state partitions.")],
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
    from rheostat.repartition.checkpoint_look import look
    from rheostat.repartition.checkpoints.kafka_sources import offset_lines
    from rheostat.repartition.plan import plan
    from rheostat.repartition.protocol.preflight import require_number

    require_number(partitions)
    with working("reading the state"):
        examined = look(checkpoint, rows=rows)
    planned = plan(examined.inspection, partitions, examined.slots, examined.disk_free_bytes)
    sources = [
        line
        for source in examined.inspection.sources
        for line in offset_lines(source, examined.inspection.last_batch, readers)
    ]
    shown = asdict(planned) | {"sources": sources}
    emit(shown, as_json, out, lambda: typer.echo("\n".join([*_lines(planned), *sources])))


def _lines(planned: RepartitionPlan) -> list[str]:
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
            f" to {planned.disk_bytes / 1e6:,.1f} MB beside the old one"
        )
    if planned.coalesce:
        lines.append(f"or: {planned.coalesce}")
    return lines
