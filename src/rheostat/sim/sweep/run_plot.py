"""A simulated run as a picture: rate, executors and latency over time, and a digest by which the
picture is known to be up to date.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rheostat.sim.plant import Floats, Ledger
from rheostat.sim.sweep.runner import play
from rheostat.sim.sweep.sweep_cell import Cell

SAMPLE_S = 30.0
_DIGEST = re.compile(r"series sha256 ([0-9a-f]{16})")
_LATENCY_S = (3.0, 5000.0)


@dataclass(frozen=True, slots=True)
class Course:
    """Samples of a run every 30 s; a latency is the mean of the rows that arrive until the next
    one, none where they wait at the end.
    """

    objective_s: float
    high: int
    rate_per_s: tuple[int, ...]
    executors: tuple[int, ...]
    latency_s: tuple[float | None, ...]

    @property
    def digest(self) -> str:
        """A hash of the series, as rounded as they are here: drawings differ between versions of
        the drawing library, these do not.
        """
        series = repr(
            (self.objective_s, self.high, self.rate_per_s, self.executors, self.latency_s)
        )
        return hashlib.sha256(series.encode()).hexdigest()[:16]

    def draw(self, path: Path) -> None:
        """Write the picture as SVG, with the digest in its description, without a date: the same
        course gives the same bytes.
        """
        import matplotlib as mpl
        from matplotlib.figure import Figure

        minutes = np.arange(len(self.executors)) * SAMPLE_S / 60
        latency = [np.nan if value is None else value for value in self.latency_s]
        with mpl.rc_context(
            {
                "svg.hashsalt": path.stem,
                "svg.fonttype": "none",
                "font.size": 8.0,
                "font.family": "sans-serif",
            }
        ):
            figure = Figure(figsize=(7, 4))
            figure.subplots_adjust(left=0.11, right=0.98, top=0.97, bottom=0.1, hspace=0.12)
            rate, executors, late = figure.subplots(3, 1, sharex=True)
            rate.step(
                minutes, np.array(self.rate_per_s) / 1000, where="post", color="0.4", linewidth=1
            )
            rate.set(ylabel="1,000 rows/s", ylim=(0, None), xlim=(0, minutes[-1]))
            executors.step(minutes, self.executors, where="post", color="tab:blue", linewidth=1)
            executors.set(ylabel="executors", ylim=(0, max(self.high, *self.executors) + 1))
            late.plot(minutes, latency, color="tab:red", linewidth=1)
            late.axhline(self.objective_s, color="0.4", linestyle=":", linewidth=1)
            late.set(ylabel="latency (s)", xlabel="minutes", yscale="log", ylim=_LATENCY_S)
            late.minorticks_off()
            described = {
                "Date": None,
                "Creator": None,
                "Description": f"series sha256 {self.digest}",
            }
            figure.savefig(path, format="svg", metadata=described)


def course(cell: Cell) -> Course:
    """Return the course of a run; the same cell gives the same course."""
    ledger, seconds = play(cell).ledger, cell.settings.seconds
    t_s = np.arange(0.0, seconds, SAMPLE_S)
    latency = [
        None if np.isnan(value) else round(float(value), 1)
        for value in _latencies(ledger, len(t_s))
    ]
    return Course(
        objective_s=cell.settings.objective_s,
        high=cell.settings.high,
        rate_per_s=tuple(round(cell.workload.rate_per_s(float(t))) for t in t_s),
        executors=tuple(int(each) for each in ledger.registered.at(t_s)),
        latency_s=tuple(latency),
    )


def digest_in(path: Path) -> str | None:
    """Return the digest that a picture was drawn from; None where there is no picture, or one
    without.
    """
    found = _DIGEST.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    return found[1] if found else None


def _latencies(ledger: Ledger, samples: int) -> Floats:
    """Return the mean latency of the rows that arrive between each sample and the next, not-a-
    number where none of them is committed.
    """
    place = np.minimum((ledger.commit_s - ledger.latency_s) // SAMPLE_S, samples - 1).astype(
        np.int64
    )
    rows = np.bincount(place, ledger.rows, samples)
    total = np.bincount(place, ledger.rows * ledger.latency_s, samples)
    return np.asarray(np.divide(total, rows, out=np.full(samples, np.nan), where=rows > 0))
