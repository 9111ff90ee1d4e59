"""The results of an experiment: lines, fits, and differences between groups of cells. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from rheostat_lab.varga.line_fit import Fit, Point, linear, places
from rheostat_lab.varga.published import FINDINGS
from rheostat_lab.varga.spec import Spec

Row = Mapping[str, Any]
LOADS = {"mean_s": "mean over tasks", "max_s": "longest task"}
SNAPSHOTS = {"whole_s": "whole snapshot", "later_s": "after a few changes"}
_X = {"load-by-size": "size_mb", "load-by-parallelism": "parallelism"}


def points(rows: Sequence[Row], x: str, y: str) -> list[Point]:
    """Return the pairs of two columns; rows without a value are omitted."""
    return [(float(row[x]), float(row[y])) for row in rows if row.get(y) is not None]


def of(rows: Sequence[Row], tasks: int) -> list[Row]:
    """Return the rows of one parallelism."""
    return [row for row in rows if row["parallelism"] == tasks]


def fits(spec: Spec, rows: Sequence[Row]) -> dict[str, Fit | None]:
    """Return the line of each measure of an experiment."""
    if spec.experiment in _X:
        return {y: linear(points(rows, _X[spec.experiment], y)) for y in LOADS}
    if spec.experiment == "snapshot":
        return {
            f"whole_s, parallelism {tasks}": linear(points(of(rows, tasks), "size_mb", "whole_s"))
            for tasks in spec.parallelism
        }
    return {
        f"{way} by {x}": linear(points([row for row in rows if row["way"] == way], x, "downtime_s"))
        for way in spec.ways
        for x in ("size_mb", "parallelism")
    }


def lines(spec: Spec, rows: Sequence[Row]) -> list[str]:
    """Return the result as text: cells, fits, and the published findings."""
    result = [f"{spec.experiment}: {spec.partitions} state partitions"]
    result += _CELLS[spec.experiment](spec, rows)
    result += [_line(name, fit) for name, fit in fits(spec, rows).items() if fit]
    if spec.experiment == "load-by-parallelism":
        result += _divisors(spec, rows)
    return [*result, f"published: {FINDINGS[spec.experiment]}"]


def _loads(spec: Spec, rows: Sequence[Row]) -> list[str]:
    x = _X[spec.experiment]
    return [
        f"{x} {place.x:g}: {name} {place.mean:.3f} s ({place.low:.3f} to {place.high:.3f}, n"
        f" {place.n})"
        for y, name in LOADS.items()
        for place in places(points(rows, x, y))
    ]


def _snapshots(spec: Spec, rows: Sequence[Row]) -> list[str]:
    return [
        f"parallelism {tasks}, {place.x:g} MB: {name} {place.mean:.3f} s ({place.low:.3f} to"
        f" {place.high:.3f}, n {place.n})"
        for tasks in spec.parallelism
        for y, name in SNAPSHOTS.items()
        for place in places(points(of(rows, tasks), "size_mb", y))
    ]


def _downtimes(spec: Spec, rows: Sequence[Row]) -> list[str]:
    cells = [
        (way, size, place)
        for way in spec.ways
        for size in spec.sizes_mb
        for place in places(
            points(
                [row for row in rows if (row["way"], row["size_mb"]) == (way, size)],
                "parallelism",
                "downtime_s",
            )
        )
    ]
    return [
        f"{way}, {size} MB, to {place.x:g} executors: {place.mean:.1f} s ({place.low:.1f} to"
        f" {place.high:.1f}, n {place.n})"
        for way, size, place in cells
    ]


def _divisors(spec: Spec, rows: Sequence[Row]) -> list[str]:
    """Return how uneven loads are if the parallelism divides the partitions and if not: the longest
    task relative to the mean.
    """
    result = []
    for divides in (True, False):
        ratios = [
            row["max_s"] / row["mean_s"]
            for row in rows
            if (spec.partitions % row["parallelism"] == 0) is divides and row["mean_s"] > 0
        ]
        if ratios:
            name = "divisors" if divides else "others"
            result.append(f"{name}: longest task over mean {mean(ratios):.2f} (n {len(ratios)})")
    return result


def _line(name: str, fit: Fit) -> str:
    start_s = round(fit.intercept, 3) + 0.0  # never -0.000
    return f"{name}: {start_s:.3f} s + {fit.slope:.5f} s x, R² {fit.r2:.3f}, n {fit.n}"


_CELLS = {
    "snapshot": _snapshots,
    "load-by-size": _loads,
    "load-by-parallelism": _loads,
    "downtime": _downtimes,
}
