"""Run the comparison of ``predictive``: for each load and start of an executor the two other
policies, with the parameters, that were best on the seed of their sweep, and the bounds, on other
seeds; and ``predictive`` on all of these.

Run: rheostat simulate sweep experiments/predictive-peers.yaml
     python scripts/predictive_peers.py out/sweep/predictive-peers 502 503 504
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import typer

from rheostat_lab.sweep.runner import Row, here, rows, sweep
from rheostat_lab.sweep.sweep_cell import BOUNDS, Cell
from rheostat_lab.sweep.sweep_spec import read_spec

EXPERIMENTS = Path(__file__).parents[1] / "experiments"
SPEC, OWN_SPEC = EXPERIMENTS / "predictive-peers.yaml", EXPERIMENTS / "predictive.yaml"
OURS = "predictive"
CHUNK = 15
BEST = 2
"""Cells that attained the SLO rank first, then the cheaper ones."""


def chosen(cells: Sequence[Cell], tried: Sequence[Row]) -> Iterator[Cell]:
    """Return the cells of the two best policies of each load and start, each with its best
    parameters, and the bounds.
    """
    ranks = {row["key"]: _rank(row) for row in tried}
    known = sorted((cell for cell in cells if cell.key in ranks), key=_place)
    for _, there in groupby(known, lambda cell: _place(cell)[:2]):
        best_of_place = [
            min(same, key=lambda cell: ranks[cell.key]) for _, same in groupby(there, key=_place)
        ]
        yield from (cell for cell in best_of_place if cell.policy == BOUNDS)
        others = [cell for cell in best_of_place if cell.policy != BOUNDS]
        yield from sorted(others, key=lambda cell: ranks[cell.key])[:BEST]


def _rank(row: Row) -> tuple[int, float]:
    attained = bool(row["attained"])
    return -attained, (row["cost"] if attained else -(row["within"] or 0.0)) or 0.0


def _place(cell: Cell) -> tuple[str, str, str]:
    return cell.load, cell.plant, cell.policy


def main(folder: Path, seeds: list[int]) -> None:
    """Run the chosen cells, one seed at a time; finished ones are not run again."""
    tuning = read_spec(SPEC)
    best = list(chosen(tuning, rows(folder)))
    best.sort(key=lambda cell: cell.policy == BOUNDS)
    ours = {_place(cell): cell for cell in read_spec(OWN_SPEC) if cell.policy == OURS}
    known = sorted({cell.seed for cell in tuning})
    wanted = [replace(cell, seed=seed) for seed in [*seeds, *known] for cell in ours.values()]
    wanted += [replace(cell, seed=seed) for seed in seeds for cell in best]
    sweep(wanted, folder.with_name(f"{folder.name}-best"), here, chunk=CHUNK, done=_log_progress)


def _log_progress(ended: int, total: int) -> None:
    sys.stderr.write(f"{ended} of {total}\n")


if __name__ == "__main__":
    typer.run(main)
