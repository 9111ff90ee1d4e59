"""A run in its own process, so that it is unaffected by caches and leftovers of previous runs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import typer

from rheostat.errors import RheostatError
from rheostat.machine.orderly_end import orderly_end
from rheostat.machine.process import Child
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.demo.demo_run import perform
from rheostat_lab.demo.live_view import open_view
from rheostat_lab.experiment_file import as_values
from rheostat_lab.matrix.matrix_spec import MatrixSpec
from rheostat_lab.matrix.played_run import is_played

_LONGEST_SETUP_S = 900.0
"""The longest that a run may take in addition to its load; many times what a busy machine takes."""


def play(spec: MatrixSpec, number: int, folder: Path, lock: int) -> None:
    """Play a run of a specification to its end; FOLDER.log receives its output. Raises
    RheostatError if it produces no summary. The run ends with this process; ``lock`` (a file
    descriptor) stays open until it has ended.
    """
    log = folder.with_name(f"{folder.name}.log")
    # As a value, because its file may be edited during the hours that the lab takes.
    given = [json.dumps(asdict(spec)), str(number), str(folder)]
    program = [sys.executable, "-m", "rheostat_lab.matrix.run_process", *given]
    with Child(program, log=log, holds=[lock]) as child:
        code = child.wait(60 * spec.minutes + _LONGEST_SETUP_S)
    if code is None:
        raise RheostatError(f"was ended after {_LONGEST_SETUP_S:g} s more than its load; see {log}")
    if not is_played(folder):
        lines = log.read_text(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else "the log is empty"
        raise RheostatError(f"ended with exit code {code} and without a summary: {reason}")


def perform_run(demo: Demo) -> None:
    """Perform a run; its results are in the demo's folder."""
    view = open_view("Rheostat", demo.max_executors, demo.slo.latency_s)
    with orderly_end(with_parent=True), view:
        perform(demo, view)


def main(spec: str, number: int, out: Path) -> None:
    """Perform run ``number`` of a specification, as JSON, into a folder."""
    known = MatrixSpec(**as_values(json.loads(spec)))
    try:
        perform_run(known.demo(list(known.cells())[number], out))
    except RheostatError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code) from None


if __name__ == "__main__":
    typer.run(main)
