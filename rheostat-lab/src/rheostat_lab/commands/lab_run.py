"""``rheostat lab run``: measurements on real Spark, from a specification."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rheostat.errors import BadInput


def run(
    specs: Annotated[list[Path], typer.Argument(help="Specifications (YAML).", metavar="SPEC...")],
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("out/lab"),
    hours: Annotated[
        float | None,
        typer.Option(min=0, help="The longest that runs may take; default: that of the file."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run the experiments of specifications on this machine, one after the other: NAME.json for
    each, with NAME.png of a measurement, or the folder NAME of the days that policies sized.

    Example: rheostat lab run experiments/varga-*.yaml
    """
    from rheostat_lab.experiment_kinds import prepared

    known = {path.stem: prepared(path, hours) for path in specs}
    if len(known) < len(specs):
        raise BadInput("the results are named after the files, but two files have the same name")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out {out} cannot be created: {error.strerror}") from None
    results = [experiment(name, out) for name, experiment in known.items()]
    if as_json:
        typer.echo(json.dumps(results, indent=2))
