"""A measurement of Varga et al.: its rows and its plot."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import typer

from rheostat.cli.output import write_out
from rheostat_lab.varga.spec import Spec, made


def prepared(path: Path, values: Mapping[str, Any]) -> Callable[[str, Path], dict[str, Any]]:
    """Return the function that runs a file's experiment; raises BadInput for an invalid one."""
    return partial(_run, made(path, values))


def _run(spec: Spec, name: str, out: Path) -> dict[str, Any]:
    """Measure, and write NAME.json after each row and NAME.png at the end."""
    from rheostat_lab.varga import downtime, load_time, snapshot_time
    from rheostat_lab.varga.outcome import lines
    from rheostat_lab.varga.varga_plot import draw

    others = {"downtime": downtime.measure, "snapshot": snapshot_time.measure}
    measure = others.get(spec.experiment, load_time.measure)
    rows: list[dict[str, Any]] = []
    result: dict[str, Any] = {}
    for row in measure(spec, lambda message: typer.echo(f"{name}: {message}", err=True)):
        rows.append(row)
        summary = lines(spec, rows)
        result = {"name": name, "spec": asdict(spec), "rows": rows, "told": summary}
        write_out(out / f"{name}.json", [json.dumps(result, indent=2)])
    draw(spec, rows, out / f"{name}.png")
    typer.echo("\n".join(result["told"]), err=True)
    return result
