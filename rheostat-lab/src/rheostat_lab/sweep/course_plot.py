"""A simulated run as a plot: rate, executors and latency over time, with a digest that shows
whether the plot is up to date.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rheostat.sim.plant import Floats, Ledger
from rheostat_lab.sweep.runner import play
from rheostat_lab.sweep.sweep_cell import Cell

SAMPLE_S = 30.0
_DIGEST = re.compile(r"series sha256 ([0-9a-f]{16})")
_LATENCY_S = (3.0, 5000.0)
_TICK_S = 1200.0
"""Twenty minutes, in seconds: seven labels in the 140 minutes of a policy's page."""


@dataclass(frozen=True, slots=True)
class Course:
    """Samples of a run every 30 s. A latency is the mean of the rows that arrive until the next
    sample; None if they are not committed by the end.
    """

    slo_s: float
    high: int
    rate_per_s: tuple[int, ...]
    executors: tuple[int, ...]
    latency_s: tuple[float | None, ...]

    @property
    def digest(self) -> str:
        """A hash of the rounded series, because drawings differ between library versions."""
        series = repr((self.slo_s, self.high, self.rate_per_s, self.executors, self.latency_s))
        return hashlib.sha256(series.encode()).hexdigest()[:16]

    def draw(self, path: Path) -> None:
        """Write the plot as SVG, with the digest in its description and without a date, so that the
        same course gives the same bytes.
        """
        import matplotlib as mpl

        with mpl.rc_context(
            {
                "svg.hashsalt": path.stem,
                "svg.fonttype": "none",
                "font.size": 9.0,
                "font.family": "sans-serif",
            }
        ):
            described = {
                "Date": None,
                "Creator": None,
                "Description": f"series sha256 {self.digest}",
            }
            self.figure(path.stem).savefig(path, format="svg", metadata=described)

    def figure(self, policy: str) -> Any:
        """Return the plot: the load, the executors and the latency under the policy's name."""
        from matplotlib.figure import Figure

        drawn = Figure(figsize=(7.4, 5.6))
        drawn.subplots_adjust(left=0.09, right=0.98, top=0.875, bottom=0.085, hspace=0.5)
        drawn.text(0.014, 0.96, policy, fontsize=12, fontweight="bold")
        rate, executors, late = drawn.subplots(3, 1, sharex=True)
        seconds = np.arange(len(self.executors)) * SAMPLE_S
        rate.step(seconds, self.rate_per_s, where="post", color="0.3", linewidth=1.2)
        rate.set(ylim=(0, 1.1 * max(*self.rate_per_s, 1)), xlim=(0, seconds[-1]))
        executors.step(seconds, self.executors, where="post", color="tab:blue", linewidth=1.4)
        executors.axhline(self.high, color="0.4", linestyle=":", linewidth=1)
        executors.set(ylim=(0, max(self.high, *self.executors) + 1.5))
        latency = [np.nan if value is None else value for value in self.latency_s]
        late.plot(seconds, latency, color="tab:red", linewidth=1.2)
        late.axhline(self.slo_s, color="0.4", linestyle=":", linewidth=1)
        late.set(yscale="log", ylim=_LATENCY_S)
        for panel, title, unit in (
            (rate, "Load", "rows per second"),
            (executors, "Executors", f"how many; dotted: the ceiling of {self.high}"),
            (late, "Latency", f"seconds, log scale; dotted: objective {self.slo_s:g} s"),
        ):
            _dress(panel, title, unit)
        _axes(rate, executors, late)
        return drawn


def _dress(panel: Any, title: str, unit: str) -> None:
    """Write title and unit above a panel, and keep only the necessary parts of its frame."""
    panel.set_title(title, loc="left", fontsize=10, fontweight="bold", pad=5, x=-0.078)
    panel.annotate(
        unit, (0, 1), (32, 5), xycoords="axes fraction", textcoords="offset points", color="0.4"
    )
    panel.grid(axis="y", color="0.9", linewidth=0.8)
    panel.set_axisbelow(True)
    panel.spines[["top", "right", "left"]].set_visible(False)
    panel.spines["bottom"].set_color("0.7")
    panel.tick_params(length=0, pad=5, labelbottom=True)
    panel.tick_params(axis="x", pad=8)


def _axes(rate: Any, executors: Any, late: Any) -> None:
    """Use plain numbers on all axes, and hours and minutes on the time axis."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator, NullLocator

    for panel in (rate, executors):
        panel.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    late.yaxis.set_minor_locator(NullLocator())
    late.set_yticks([10, 100, 1000])
    for panel in (rate, executors, late):
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        panel.xaxis.set_major_locator(MultipleLocator(_TICK_S))
        panel.xaxis.set_major_formatter(FuncFormatter(_hours_minutes))
    late.set_xlabel("hours:minutes since the start", loc="right", color="0.4")


def _hours_minutes(seconds: float, _: int) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02d}"


def course(cell: Cell) -> Course:
    """Return the course of a run; the same cell gives the same course."""
    ledger, seconds = play(cell).ledger, cell.settings.seconds
    t_s = np.arange(0.0, seconds, SAMPLE_S)
    latency = [
        None if np.isnan(value) else round(float(value), 1)
        for value in _latencies(ledger, len(t_s))
    ]
    return Course(
        slo_s=cell.settings.slo.latency_s,
        high=cell.settings.high,
        rate_per_s=tuple(round(cell.workload.rate_per_s(float(t))) for t in t_s),
        executors=tuple(int(executor) for executor in ledger.registered.at(t_s)),
        latency_s=tuple(latency),
    )


def digest_in(path: Path) -> str | None:
    """Return the digest of a plot's data; None without a plot or a digest."""
    match = _DIGEST.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    return match[1] if match else None


def _latencies(ledger: Ledger, samples: int) -> Floats:
    """Return the mean latency of the rows that arrive between each sample and the next, NaN if none
    of them is committed.
    """
    place = np.minimum((ledger.commit_s - ledger.latency_s) // SAMPLE_S, samples - 1).astype(
        np.int64
    )
    rows = np.bincount(place, ledger.rows, samples)
    total = np.bincount(place, ledger.rows * ledger.latency_s, samples)
    return np.asarray(np.divide(total, rows, out=np.full(samples, np.nan), where=rows > 0))
