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
    found = plan(request, {})
    emit(_plan_json(found), as_json, out, lambda: _show(found))


def _plan_json(found: Plan) -> dict[str, Any]:
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
            for row in found.rows
        ],
        "limits": {"min": found.limits.min_executors, "max": found.limits.max_executors},
        "said": [*found.lines, *found.forbidden],
    }


def _show(found: Plan) -> None:
    for row in found.rows:
        origin = f"{row.origin} and rheostat" if row.origin and row.sets else row.origin
        typer.echo(f"{row.name} = {row.value}\n    {origin or 'rheostat'}: {row.why}")
    for line in ("", *found.lines, *found.forbidden):
        typer.echo(line)
    low, high = found.limits.min_executors, found.limits.max_executors
    typer.echo(f"{low} to {high} executors. {BUILDER}")
