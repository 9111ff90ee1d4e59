"""The thesis' recorded runs as input for a plant: arrivals, sizes and measured values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rheostat.errors import BadInput
from rheostat.replay.recording import packaged, read
from rheostat.sim.plant import Floats
from rheostat_lab.thesis.thesis_runs import START_EXECUTORS

SAMPLE_S = 15
_METER_S = 60
_DETECTION_DELAY_S = 8
"""Seconds; a change is within the 15 s before its first sample, and assumed in the middle."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded run; arrays have one entry per sample of 15 s, absent values are NaN."""

    name: str
    arrivals: list[float]
    """Rows of each second; the recorded rate, a mean of the last minute, is centered on it."""

    sizes: Mapping[int, int]
    """TaskManagers from that second on."""

    executors: Floats
    latency_s: Floats
    lag_rows: Floats
    input_rows_per_s: Floats
    cpu: Floats
    busy: Floats
    idle: Floats
    pressure: Floats


def load_recording(name: str, folder: Path | None = None) -> Recorded:
    """Return a recording of the package, or of another folder with the same files; raises BadInput
    if it does not exist.
    """
    paths = packaged() if folder is None else {path.stem: path for path in folder.glob("*.csv")}
    if name not in paths:
        raise BadInput(
            f"there is no recording {name}; there are {', '.join(sorted(paths)) or 'none'}"
        )
    moments = [moment.observation for moment in next(iter(read(paths[name]).values()))]
    start_s = moments[0].t_s
    columns = {
        field: np.array(
            [
                np.nan if (value := getattr(observation, field)) is None else float(value)
                for observation in moments
            ]
        )
        for field in (
            "t_s",
            "executors",
            "lag_s",
            "lag_rows",
            "input_rows_per_s",
            "cpu",
            "busy",
            "idle",
            "backpressure_ms_per_s",
        )
    }
    times = columns["t_s"] - start_s
    executors = _filled(columns["executors"])
    seconds = np.arange(int(times[-1])) + 0.5
    arrivals = np.interp(seconds + _METER_S / 2, times, columns["input_rows_per_s"])
    return Recorded(
        name=name,
        arrivals=[float(rows) for rows in arrivals],
        sizes=_sizes(times, executors),
        executors=executors,
        latency_s=np.nan_to_num(columns["lag_s"]),
        lag_rows=np.nan_to_num(columns["lag_rows"]),
        input_rows_per_s=columns["input_rows_per_s"],
        cpu=columns["cpu"],
        busy=columns["busy"],
        idle=columns["idle"],
        pressure=columns["backpressure_ms_per_s"] / 1000,
    )


def _filled(executors: Floats) -> Floats:
    """Return the sizes without gaps: the run began with 8 whatever the first scrape shows, and a
    gap in the registration is not a size of 0.
    """
    filled: Floats = executors.copy()
    filled[0] = START_EXECUTORS
    for index in range(1, len(filled)):
        if not filled[index] >= 1:
            filled[index] = filled[index - 1]
    return filled


def _sizes(times: Floats, executors: Floats) -> dict[int, int]:
    changed = np.flatnonzero(np.diff(executors)) + 1
    return {
        max(1, int(times[index]) - _DETECTION_DELAY_S): int(executors[index]) for index in changed
    }
