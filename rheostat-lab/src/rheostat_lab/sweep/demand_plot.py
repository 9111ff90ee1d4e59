"""The demand curve as a picture: executors over rows per second, the range of the seeds as a
band.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rheostat.sim.demand import Demand
from rheostat_lab.svg_picture import picture


def draw(
    path: Path,
    found: Sequence[Demand],
    by_model: Sequence[int | None],
    most: int,
    slo_s: float,
) -> None:
    """Write the picture as SVG, without a date; loads that ``most`` executors do not hold are left
    out.

    ``by_model`` is the demand by the batch model, one number a load, or none at all.
    """
    with picture(path, 7, 4) as figure:
        axes = figure.subplots()
        held = [each for each in found if each.executors is not None]
        rates = [each.rate_per_s / 1000 for each in held]
        low, middle, high = (
            [_within(each, size, most) for each in held] for size in ("low", "executors", "high")
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
            (each.rate_per_s / 1000, size)
            for each, size in zip(found, by_model, strict=False)
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
        axes.set(xlabel="1,000 rows/s", xlim=(0, found[-1].rate_per_s / 1000))
        axes.set(ylabel=f"executors that hold {slo_s:g} s", ylim=(0, most + 1))
        axes.legend(fontsize=8)


def _within(each: Demand, size: str, most: int) -> float:
    found = getattr(each, size)
    return float(most if found is None else found)
