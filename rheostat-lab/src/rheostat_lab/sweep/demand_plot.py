"""The demand curve as a plot: executors over rows per second, with a band for the seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rheostat_lab.svg_picture import picture
from rheostat_lab.sweep.demand_summary import Demand


def draw(
    path: Path,
    demands: Sequence[Demand],
    by_model: Sequence[int | None],
    most: int,
    slo_s: float,
) -> None:
    """Write the plot as SVG, without a date; loads that ``most`` executors cannot carry are
    omitted.

    ``by_model`` is the demand by the batch model, one number per load, or empty.
    """
    with picture(path, 7, 4) as figure:
        axes = figure.subplots()
        held = [demand for demand in demands if demand.executors is not None]
        rates = [demand.rate_per_s / 1000 for demand in held]
        low, middle, high = (
            [_within(demand, size, most) for demand in held]
            for size in ("low", "executors", "high")
        )
        axes.fill_between(
            rates,
            low,
            high,
            step="pre",
            color="tab:blue",
            alpha=0.25,
            linewidth=0,
            label="least to most of the seeds",
        )
        axes.step(
            rates, middle, where="pre", color="tab:blue", label="searched, median of the seeds"
        )
        modelled = [
            (demand.rate_per_s / 1000, size)
            for demand, size in zip(demands, by_model, strict=False)
            if size is not None
        ]
        if modelled:
            axes.step(
                *zip(*modelled, strict=True),
                where="pre",
                color="0.4",
                linestyle=":",
                label="batch model, without noise",
            )
        axes.set(xlabel="1,000 rows/s", xlim=(0, demands[-1].rate_per_s / 1000))
        axes.set(ylabel=f"executors that hold {slo_s:g} s", ylim=(0, most + 1))
        axes.legend(fontsize=8)


def _within(demand: Demand, size: str, most: int) -> float:
    executors = getattr(demand, size)
    return float(most if executors is None else executors)
