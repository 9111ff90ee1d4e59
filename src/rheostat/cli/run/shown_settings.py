"""What ``rheostat run`` would set in Spark, as text or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from rheostat.cli.output import emit
from rheostat.local.app_run import Request, plan
from rheostat.spark.settings.run_settings import Plan

BUILDER = (
    "What the script's own builder sets is seen only when it runs, and wins over all of these."
)


def show(request: Request, as_json: bool, out: Path | None) -> None:
    """Print the settings with the value that holds, where it comes from, and why it is wanted."""
    planned = plan(request, {})
    emit(_plan_json(planned), as_json, out, lambda: _show(planned))


def _plan_json(planned: Plan) -> dict[str, Any]:
    return {
        "settings": [
            {
                "name": row.name,
                "value": row.value,
                "from": row.origin or "rheostat",
                "set": row.sets,
                "wanted": row.wanted,
                "why": row.why,
            }
            for row in planned.rows
        ],
        "limits": {"min": planned.limits.min_executors, "max": planned.limits.max_executors},
        "said": [*planned.lines, *planned.forbidden],
    }


def _show(planned: Plan) -> None:
    for row in planned.rows:
        origin = f"{row.origin} and rheostat" if row.origin and row.sets else row.origin
        typer.echo(f"{row.name} = {row.value}\n    {origin or 'rheostat'}: {row.why}")
    for line in ("", *planned.lines, *planned.forbidden):
        typer.echo(line)
    low, high = planned.limits.min_executors, planned.limits.max_executors
    typer.echo(f"{low} to {high} executors. {BUILDER}")
