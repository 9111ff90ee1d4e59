"""A run in its own process, so that it is unaffected by caches and leftovers of previous runs."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from rheostat.errors import RheostatError
from rheostat.machine.orderly_end import orderly_end
from rheostat.machine.process import Child
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.demo.demo_run import perform
from rheostat_lab.demo.live_view import open_view
from rheostat_lab.experiment_file import spec_of, values_of
from rheostat_lab.matrix.matrix_spec import MatrixSpec
from rheostat_lab.matrix.played_run import is_played

_LOOK_S = 3600.0


def play(spec: Path, number: int, folder: Path, log: Path) -> None:
    """Play a run of a specification to its end; ``log`` receives its output. Raises RheostatError
    if it produces no summary. The run ends with this process.
    """
    program = [sys.executable, "-m", "rheostat_lab.matrix.run_process"]
    with Child([*program, str(spec), str(number), str(folder)], log=log) as child:
        while (code := child.wait(_LOOK_S)) is None:
            pass
    if not is_played(folder):
        lines = log.read_text(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else "the log is empty"
        raise RheostatError(f"ended with exit code {code} and without a summary: {reason}")


def perform_run(demo: Demo) -> None:
    """Perform a run; its results are in the demo's folder."""
    view = open_view("Rheostat", demo.max_executors, demo.slo.latency_s)
    with orderly_end(with_parent=True), view:
        perform(demo, view)


def main(spec: Path, number: int, out: Path) -> None:
    """Perform run ``number`` of a specification into a folder."""
    path = spec
    known = spec_of(MatrixSpec, path, values_of(path))
    try:
        perform_run(known.demo(list(known.cells())[number], out))
    except RheostatError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code) from None


if __name__ == "__main__":
    typer.run(main)
