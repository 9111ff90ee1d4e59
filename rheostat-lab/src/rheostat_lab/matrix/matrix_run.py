"""The runs of a specification, one after the other; finished runs are not repeated."""

from __future__ import annotations

import fcntl
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import typer

from rheostat.cli.output import write_out
from rheostat.errors import BadInput, RheostatError
from rheostat.machine.atomic_file import replacing, write_atomic
from rheostat_lab.demo import results_folder
from rheostat_lab.experiment_file import spec_of
from rheostat_lab.matrix.kept_run import (
    file_name,
    keep,
    keep_finished,
    kept_files,
    read_runs,
    results_of,
)
from rheostat_lab.matrix.matrix_spec import SET_UP_S, Cell, MatrixSpec
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.policy_table import sentences, table
from rheostat_lab.matrix.prediction_table import prediction_table
from rheostat_lab.matrix.run_process import play

FAILURE = "failure.txt"
"""The file with the reason why a run has no summary; the next call repeats that run."""

LOCK = "lab.lock"
_ENDING_S = 20.0
"""Seconds after which the processes of a killed lab's run have ended."""

_MIB = 1024 * 1024
_RESULT_MIB, _SCRATCH_MIB = 64, 512
"""What a run may write to its folder, and to the folder of temporary files."""


def prepared(path: Path, values: Mapping[str, Any]) -> Callable[[str, Path], dict[str, Any]]:
    """Return the function that plays the runs of a file; raises BadInput for an invalid one."""
    return partial(_run, path, spec_of(MatrixSpec, path, values))


def lines(spec: MatrixSpec, runs: Sequence[PlayedRun]) -> list[str]:
    """Return the result as Markdown tables with sentences about them."""
    output = [f"{len(runs)} of {len(list(spec.cells()))} runs exist."]
    for query in spec.queries:
        played = [run for run in runs if run.query == query]
        output += [f"{query}:", *table(played, spec.sizings()), *sentences(played, spec.sizings())]
    return [*output, *prediction_table(list(runs), spec.queries)]


def _run(path: Path, spec: MatrixSpec, name: str, out: Path) -> dict[str, Any]:
    """Play the runs that exist neither in NAME/ nor next to the specification, and write NAME.json
    and NAME.parquet after each; raises RheostatError at the end if a run has no results.
    """
    folder, cells = out / name, list(spec.cells())
    with _alone(folder) as lock:
        failed = _play_missing(path, spec, name, out, lock)
    result = _result(spec, name, out, (folder, results_of(path)))
    typer.echo("\n".join(result["lines"]), err=True)
    if failed:
        raise RheostatError(
            f"{len(failed)} of {len(cells)} runs failed ({failed[0]} first); the next call plays"
            " them again"
        )
    return result


def _play_missing(path: Path, spec: MatrixSpec, name: str, out: Path, lock: int) -> list[str]:
    """Play the runs that do not exist, and return the names of those that failed."""
    folder, cells = out / name, list(spec.cells())
    folders = (folder, results_of(path))
    keep_finished(spec, folder, folder)
    known = kept_files(cells, folders)
    missing = [(i, cell) for i, cell in enumerate(cells) if cell.name not in known]
    _result(spec, name, out, folders)  # raises for runs under other conditions
    _require_time(spec, len(missing))
    for _, cell in missing:
        results_folder.check(folder / cell.name)
    failed: list[str] = []
    took_s: list[float] = []
    for count, (number, cell) in enumerate(missing):
        _require_space(folder)
        left_s = (len(missing) - count) * _seconds_per_run(spec, took_s)
        typer.echo(
            f"{name}: run {number + 1} of {len(cells)}, {cell.name}; about {_time(left_s)} left",
            err=True,
        )
        begin = time.monotonic()
        if _play(number, folder, cell, spec, lock):
            took_s.append(time.monotonic() - begin)
        else:
            failed.append(cell.name)
        _result(spec, name, out, folders)
    return failed


def _play(number: int, folder: Path, cell: Cell, spec: MatrixSpec, lock: int) -> bool:
    """Play a run and return whether it has results; otherwise its failure is recorded."""
    failure = folder / f"{cell.name}.{FAILURE}"
    failure.unlink(missing_ok=True)
    try:
        play(spec, number, folder / cell.name, lock)
        keep(folder / cell.name, cell, spec.conditions(), folder / file_name(cell))
    except RheostatError as error:
        # The other runs are valid without it.
        write_atomic(failure, f"{error}\n")  # on a full disk this ends the lab
        typer.echo(f"{cell.name} {error}", err=True)
        return False
    return True


@contextmanager
def _alone(folder: Path) -> Iterator[int]:
    """Hold the lock of a lab's folder, a file descriptor, once the run of a killed lab has ended;
    raises BadInput if another lab plays there.
    """
    try:
        folder.mkdir(exist_ok=True)
        lock = (folder / LOCK).open("w")
    except OSError as error:
        raise BadInput(f"the folder {folder} cannot be used: {error.strerror}") from None
    deadline = time.monotonic() + _ENDING_S
    with lock:
        while not _locked(lock.fileno()):
            if time.monotonic() > deadline:
                raise BadInput(f"another lab plays in {folder}; end it, or name another --out")
            time.sleep(0.5)
        yield lock.fileno()


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _require_space(folder: Path) -> None:
    """Raise BadInput if a run has too little space for its results or its temporary files."""
    for place, mib in ((folder, _RESULT_MIB), (Path(tempfile.gettempdir()), _SCRATCH_MIB)):
        free = shutil.disk_usage(place).free // _MIB
        if free < mib:
            raise BadInput(f"a run needs {mib} MiB in {place}, but only {free} MiB are free")


def _seconds_per_run(spec: MatrixSpec, took_s: Sequence[float]) -> float:
    """Return the seconds per run: the mean so far, or an estimate before the first."""
    return mean(took_s) if took_s else 60 * spec.minutes + SET_UP_S


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _require_time(spec: MatrixSpec, runs: int) -> None:
    """Ask a person, and otherwise raise BadInput, if the runs take longer than ``hours`` allows."""
    hours = runs * _seconds_per_run(spec, ()) / 3600
    if hours <= spec.hours:
        return
    estimate = f"{runs} runs take about {hours:.1f} hours, but hours allows {spec.hours:g}"
    if not (sys.stdin.isatty() and typer.confirm(f"{estimate}. Play them?", err=True)):
        raise BadInput(f"{estimate}; add --hours {hours + 1:.0f} to play them")


def _result(spec: MatrixSpec, name: str, out: Path, folders: Sequence[Path]) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = out / name
    runs = list(read_runs(spec, kept_files(spec.cells(), folders)).values())
    rows = [asdict(run) for run in runs]
    failures = {
        path.name.removesuffix(f".{FAILURE}"): path.read_text().strip()
        for path in sorted(folder.glob(f"*.{FAILURE}"))
    }
    result = {
        "name": name,
        "conditions": spec.conditions(),
        "rows": rows,
        "failures": failures,
        "lines": lines(spec, runs),
    }
    write_out(out / f"{name}.json", [json.dumps(result, indent=2)])
    if rows:
        flat = [{k: v for k, v in row.items() if k != "prediction"} for row in rows]
        with replacing(out / f"{name}.parquet") as fresh:
            pq.write_table(pa.Table.from_pylist(flat), fresh)
    return result
