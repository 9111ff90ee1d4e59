"""Recorded loads: files of samples, and those included in the package."""

from __future__ import annotations

import csv
import math
import statistics
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from rheostat.errors import BadInput
from rheostat_lab.loads.trace import Trace

_FORMATS = {"second|adCount": "|", "t_s,rate": ","}


def packaged_traces() -> dict[str, Path]:
    """Return the recorded loads of the package by name; their README states the license."""
    folder = Path(str(files("rheostat_lab.loads") / "traces"))
    return {path.stem: path for path in sorted(folder.glob("*.csv"))}


def find_trace(name: str) -> Trace:
    """Return the recorded load in a file, or one of the package by its name; raises BadInput as
    ``read_trace`` does.
    """
    path, known = Path(name), packaged_traces()
    if not path.exists() and name not in known:
        raise BadInput(
            f"there is no recorded load {name}; it is a file, or one of {', '.join(known)}"
        )
    return read_trace(path if path.exists() else known[name])


def read_trace(path: Path, time_scale: float = 1.0, rate_scale: float = 1.0) -> Trace:
    """Return the recording in a CSV file with the header ``second|adCount`` or ``t_s,rate``
    (seconds, rows per second).

    Raises BadInput, with file and line, for another header, values that are not numbers, negative
    rates, times that do not increase, and gaps (a distance above 1.5 times the usual one).
    """
    try:
        # Excel begins a file with a byte order mark, which would become part of the header.
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"the trace {path} cannot be read:"
            f" {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}"
        ) from None
    header = lines[0].strip() if lines else ""
    if header not in _FORMATS:
        raise BadInput(
            f"{path}:1: the header must be {' or '.join(_FORMATS)}, but it is {header!r}"
        )
    # Line by line, because an unclosed quote would swallow all following lines.
    rows = (next(csv.reader([line], delimiter=_FORMATS[header]), []) for line in lines[1:])
    samples = [_sample(path, number, row) for number, row in enumerate(rows, 2) if row]
    if len(samples) < 2:
        raise BadInput(f"{path}: a trace needs two samples or more, but has {len(samples)}")
    _refuse_gaps(path, samples)
    return Trace(
        tuple(t for _, t, _ in samples),
        tuple(rate for _, _, rate in samples),
        time_scale=time_scale,
        rate_scale=rate_scale,
    )


def _sample(path: Path, line: int, row: list[str]) -> tuple[int, float, float]:
    try:
        t_s, rate = (float(value) for value in row)
    except ValueError:
        raise BadInput(
            f"{path}:{line}: a sample is a time and a rate, two numbers, but the line holds {row}"
        ) from None
    if not (math.isfinite(t_s) and math.isfinite(rate) and rate >= 0):
        raise BadInput(
            f"{path}:{line}: a rate must be a number of at least 0 at a finite time, but the line"
            f" holds {row}"
        )
    return line, t_s, rate


def _refuse_gaps(path: Path, samples: list[tuple[int, float, float]]) -> None:
    steps = [(line, early, late) for (_, early, _), (line, late, _) in pairwise(samples)]
    # The median, so that one gap does not raise the usual distance.
    usual_s = statistics.median(late - early for _, early, late in steps)
    for line, early, late in steps:
        if not late > early:
            raise BadInput(f"{path}:{line}: times must rise, but {late:g} comes after {early:g}")
        if late - early > 1.5 * usual_s:
            raise BadInput(
                f"{path}:{line}: a gap from {early:g} to {late:g} s among samples {usual_s:g} s"
                " apart; fill it or cut there"
            )
