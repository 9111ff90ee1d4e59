"""The arrival curve of a run: the rows so far over time, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rheostat.errors import BadInput

EVERY_S = 0.25


@dataclass(frozen=True, slots=True)
class Point:
    """At ``t_s`` (Unix seconds), ``rows`` had been created, of which the broker had acknowledged
    ``acked``, and ``rate_per_s`` was the requested rate.
    """

    t_s: float
    rows: int
    acked: int
    rate_per_s: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A run's start (Unix seconds), its marks (seconds from the start), and its points in order."""

    start_s: float
    marks: Mapping[str, float]
    points: tuple[Point, ...]


class CurveFile:
    """Writes the curve of a run, at most one line every ``EVERY_S`` seconds; raises BadInput if the
    file cannot be written.
    """

    def __init__(self, path: Path, start_s: float, marks: Mapping[str, float]) -> None:
        try:
            self._file = path.open("w", encoding="utf-8", buffering=1)
        except OSError as error:
            raise BadInput(f"the curve cannot be written to {path}: {error.strerror}") from None
        self._acked = 0
        self._next_s = start_s
        self._write({"start_s": start_s, "marks": dict(marks)})

    def note(self, point: Point) -> None:
        """Write a point if one is due."""
        if point.t_s >= self._next_s:
            # A pause restarts the grid; otherwise all missed points would be due at once.
            self._next_s = max(self._next_s + EVERY_S, point.t_s + EVERY_S / 2)
            self._point(point)

    def close(self, last: Point) -> None:
        """Write the last point and close the file."""
        self._point(last)
        self._file.close()

    def _point(self, point: Point) -> None:
        # The producer's queue length includes its callbacks, so the difference may decrease
        # slightly.
        self._acked = max(self._acked, point.acked)
        self._write(
            {
                "t_s": round(point.t_s, 3),
                "rows": point.rows,
                "acked": self._acked,
                "rate_per_s": round(point.rate_per_s, 3),
            }
        )

    def _write(self, value: Mapping[str, object]) -> None:
        self._file.write(json.dumps(value) + "\n")


def read_curve(path: Path) -> Curve:
    """Return the curve of a finished or running run, without an incomplete last line."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    values = [json.loads(line) for line in lines if line.endswith("\n")]
    return Curve(
        start_s=values[0]["start_s"],
        marks=values[0]["marks"],
        points=tuple(Point(**value) for value in values[1:]),
    )
