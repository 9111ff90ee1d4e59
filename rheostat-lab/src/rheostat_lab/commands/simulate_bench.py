"""``rheostat simulate bench``: the speed of the simulator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rheostat.cli.output import emit, out_option, plain_table, watched
from rheostat.errors import BadInput

if TYPE_CHECKING:
    from rheostat_lab.validation.bench import Speed


def bench(
    policy: Annotated[
        list[str] | None, typer.Option(help="Only this policy; repeat it. Default: all.")
    ] = None,
    plant: Annotated[
        list[str] | None,
        typer.Option(help="Only this plant, spark or flink; repeat it. Default: both."),
    ] = None,
    seconds: Annotated[float, typer.Option(help="Simulated seconds of each run.")] = 28_800.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Path | None, out_option()] = None,
) -> None:
    """Measure the simulator: simulated seconds per second of one core, for each policy and plant.

    Batches of 10 s with 2 stages and 24 partitions, a decision every 60 s; CPU time of this
    process.

    Example: rheostat simulate bench --policy threshold --plant spark
    """
    from rheostat.policies.registry import POLICIES, find
    from rheostat_lab.validation.bench import PLANTS
    from rheostat_lab.validation.bench import bench as speeds

    policies, plants = policy or list(POLICIES), plant or list(PLANTS)
    for name in policies:
        find(name)
    for name in plants:
        if name not in PLANTS:
            raise BadInput(f"unknown plant {name!r}; there are {', '.join(PLANTS)}")
    if not 60 <= seconds < float("inf"):
        raise BadInput(f"seconds must be at least 60, but are {seconds:g}")
    rows = list(
        watched(speeds(policies, plants, seconds), "simulating", len(policies) * len(plants))
    )
    emit({"rows": [asdict(row) for row in rows]}, as_json, out, lambda: _show(rows))


def _show(rows: Iterable[Speed]) -> None:
    from rich.console import Console

    table = plain_table("policy", "plant", "simulated s per s and core")
    table.columns[2].justify = "right"
    for row in rows:
        table.add_row(row.policy, row.plant, f"{row.simulated_s_per_s:,.0f}")
    Console().print(table)
