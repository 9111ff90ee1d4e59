"""A run in its own process, so that it is unaffected by caches and leftovers of previous runs."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from rheostat.errors import RheostatError
from rheostat.machine.orderly_end import orderly_end
from rheostat.machine.process import Child
from rheostat.model import Record
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.demo.demo_run import perform
from rheostat_lab.demo.live_view import open_view
from rheostat_lab.experiment_file import spec_of, values_of
from rheostat_lab.matrix.matrix_spec import MatrixSpec
from rheostat_lab.matrix.played_run import is_played

TELEMETRY = "telemetry.parquet"
"""The signals and sizes of a run at each decision."""

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
    """Perform a run and write its telemetry next to its report."""
    view = open_view("Rheostat", demo.max_executors, demo.slo.latency_s)
    with orderly_end(with_parent=True), view:
        run, _ = perform(demo, view)
    rows = [_row(record, run.start_s) for record in run.records]
    pq.write_table(pa.Table.from_pylist(rows), demo.out / TELEMETRY)


def _row(record: Record, start_s: float) -> dict[str, Any]:
    """Return the numbers of a record; the journal has the other values of the observation."""
    observation = record.observation
    numbers = {} if observation is None else asdict(replace(observation, stages=None))
    kept = {name: value for name, value in numbers.items() if isinstance(value, int | float)}
    return {**kept, "t_s": record.t_s - start_s, "target": record.target}


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
