"""``rheostat lab run``: measurements on real Spark, from a specification."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.errors import BadInput

if TYPE_CHECKING:
    from rheostat_lab.varga.spec import Spec


def run(
    specs: Annotated[list[Path], typer.Argument(help="Specifications (YAML).", metavar="SPEC...")],
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("out/lab"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run the experiments of specifications on this computer, one after the other: NAME.json and
    NAME.png for each, and what was published beside what was found.

    Example: rheostat lab run experiments/varga-*.yaml
    """
    from rheostat_lab.varga.spec import read_spec

    known = {path.stem: read_spec(path) for path in specs}
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out {out} cannot be made: {error.strerror}") from None
    results = [_run(name, spec, out) for name, spec in known.items()]
    if as_json:
        typer.echo(json.dumps(results, indent=2))


def _run(name: str, spec: Spec, out: Path) -> dict[str, Any]:
    from rheostat.cli.output import write_out
    from rheostat_lab.varga import downtime, load_time, snapshot_time
    from rheostat_lab.varga.outcome import lines
    from rheostat_lab.varga.varga_plot import draw

    others = {"downtime": downtime.measure, "snapshot": snapshot_time.measure}
    measure = others.get(spec.experiment, load_time.measure)
    rows: list[dict[str, Any]] = []
    result: dict[str, Any] = {}
    for row in measure(spec, lambda said: typer.echo(f"{name}: {said}", err=True)):
        rows.append(row)
        told = lines(spec, rows)
        result = {"name": name, "spec": asdict(spec), "rows": rows, "told": told}
        write_out(out / f"{name}.json", [json.dumps(result, indent=2)])
    draw(spec, rows, out / f"{name}.png")
    typer.echo("\n".join(result["told"]), err=True)
    return result
