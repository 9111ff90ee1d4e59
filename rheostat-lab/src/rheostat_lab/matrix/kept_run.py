"""A finished run as one Parquet file: small enough to commit, sufficient for every page.

A row is the observation of a decision with the signals that figures and simulations need; the
measures of the run and its conditions are in the file's metadata.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rheostat.errors import BadInput
from rheostat.journal.reading import records
from rheostat.journal.record import observation_from
from rheostat.machine.atomic_file import replacing
from rheostat.model import Observation
from rheostat_lab.demo.results_folder import JOURNAL
from rheostat_lab.matrix.batch_prediction import Prediction
from rheostat_lab.matrix.matrix_spec import Cell, MatrixSpec
from rheostat_lab.matrix.played_run import PlayedRun, is_played, read_run

_NUMBER, _COUNT = pa.float64(), pa.int64()
_STAGE = {"name": pa.string(), "upstream": pa.list_(pa.string()), "tasks": _COUNT}
_STAGE |= dict.fromkeys(("rows_in", "rows_out", "busy_s"), _NUMBER)
_COUNTS = ("executors", "slots_per_executor", "target", "batch_rows", "state_partitions")
_NUMBERS = (
    *("t_s", "trigger_s", "input_rows_per_s", "processed_rows_per_s", "lag_rows", "lag_s"),
    *("latency_s", "batch_s", "busy", "cpu", "state_bytes"),
)
_FLIGHT = {"elapsed_s": _NUMBER, "rows": _COUNT, "tasks_done": _COUNT, "tasks_left": _COUNT}
SCHEMA = pa.schema(
    {
        **dict.fromkeys(_NUMBERS, _NUMBER),
        **dict.fromkeys(_COUNTS, _COUNT),
        "inputs": pa.map_(pa.string(), _NUMBER),
        "in_flight": pa.struct(list(_FLIGHT.items())),
        "stages": pa.list_(pa.struct(list(_STAGE.items()))),
    }
)
"""Columns of the file; ``t_s`` counts from the first decision."""

_COMPRESSION: Mapping[str, Any] = {
    "compression": "zstd",
    "compression_level": 19,
    "write_statistics": False,
}


def results_of(spec: Path) -> Path:
    """Return the folder of the committed runs of a specification's file."""
    return spec.parent / "results" / spec.stem


def keep_finished(spec: MatrixSpec, folder: Path, into: Path) -> None:
    """Write the file of each finished run of a lab's folder that ``into`` does not have yet; a run
    with an unusable summary or journal counts as not played.
    """
    for cell in spec.cells():
        path, written = into / file_name(cell), folder / file_name(cell)
        if path.exists():
            continue
        if written.exists():
            with replacing(path) as fresh:
                shutil.copyfile(written, fresh)
        elif is_played(folder / cell.name):
            with suppress(BadInput):
                keep(folder / cell.name, cell, spec.conditions(), path)


def keep(folder: Path, cell: Cell, conditions: Mapping[str, Any], path: Path) -> None:
    """Write the file of a finished run; raises BadInput for an unusable summary or journal."""
    run = read_run(folder, cell)
    kept = [record.observation for _, record in records(folder / JOURNAL) if record.observation]
    start_s = kept[0].t_s if kept else 0.0
    rows = [{**asdict(now), "t_s": now.t_s - start_s} for now in kept]
    about = {"run": asdict(run) if run else None, "conditions": conditions}
    with (
        replacing(path) as fresh,
        # Arrow's own schema would repeat the metadata.
        pq.ParquetWriter(fresh, SCHEMA, **_COMPRESSION, store_schema=False) as file,
    ):
        file.write_table(pa.Table.from_pylist(rows, SCHEMA))
        file.add_key_value_metadata({"rheostat": json.dumps(about)})


def file_name(cell: Cell) -> str:
    """Return the name of a run's file."""
    return f"{cell.name}.parquet"


def kept_files(cells: Iterable[Cell], folders: Sequence[Path]) -> dict[str, Path]:
    """Return the files of the runs that exist in one of the folders, by the runs' names."""
    places = {cell.name: [folder / file_name(cell) for folder in folders] for cell in cells}
    return {
        name: next(path for path in paths if path.is_file())
        for name, paths in places.items()
        if any(path.is_file() for path in paths)
    }


def read_runs(spec: MatrixSpec, files: Mapping[str, Path]) -> dict[str, PlayedRun]:
    """Return the runs of a specification by name; raises BadInput for runs under other conditions
    and for unreadable files.
    """
    wanted = spec.conditions()
    return {name: _run(path, wanted) for name, path in files.items()}


def observations(path: Path) -> list[Observation]:
    """Return the observations of a run; raises BadInput for an unreadable file."""
    try:
        rows = pq.read_table(path).to_pylist(maps_as_pydicts="strict")
    except (OSError, pa.ArrowException) as error:
        raise BadInput(f"{path} is not a run file: {error}") from None
    return [observation_from(row) for row in rows]


def _run(path: Path, wanted: Mapping[str, Any]) -> PlayedRun:
    try:
        about = json.loads(pq.read_metadata(path).metadata[b"rheostat"])
        run, given = about["run"], about["conditions"]
        predicted = run["prediction"]
        if predicted is not None:
            errors = {name: tuple(predicted[name]) for name in ("errors", "repeated", "unsettled")}
            run["prediction"] = Prediction(**{**predicted, **errors})
        others = [
            f"{n} {given.get(n)}, not {wanted[n]}" for n in wanted if given.get(n) != wanted[n]
        ]
        played = PlayedRun(**run)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise BadInput(f"{path} is not a run file: {error!r}") from None
    if others:
        raise BadInput(f"{path} was played with {', '.join(others)}; name another --out")
    return played
