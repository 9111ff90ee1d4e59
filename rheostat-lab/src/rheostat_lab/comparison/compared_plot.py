"""The plot of a comparison: the 99th percentile of latency against cost, complete and zoomed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rheostat_lab.comparison.spark_comparison import OURS
from rheostat_lab.svg_picture import picture

_LINES = (("(best static)", "best static", "0.3"), ("(clairvoyant)", "clairvoyant", "tab:green"))
_ZOOM = 2.0


def scatter(
    folder: Path,
    load: str,
    entries: Sequence[Mapping[str, Any]],
    blind_cost: float | None,
    slo_s: float,
) -> list[Path]:
    """Write two plots of a load, complete and zoomed to twice the objective; hollow marks are
    policies that missed the objective on some seed.

    Bars are the 95 % intervals of the means over the seeds. The bounds have no latency, so they are
    lines at their cost.
    """
    paths = []
    for zoomed in (False, True):
        path = folder / f"compare-{load}{'-zoomed' if zoomed else ''}.svg"
        with picture(path, 8, 5) as figure:
            _draw(
                figure.subplots(),
                [entry for entry in entries if entry["load"] == load],
                blind_cost,
                slo_s,
                zoomed,
            )
        paths.append(path)
    return paths


def _draw(
    axes: Any,
    entries: Sequence[Mapping[str, Any]],
    blind_cost: float | None,
    slo_s: float,
    zoomed: bool,
) -> None:
    for entry in entries:
        if entry["latency_p99_s"] and not (
            zoomed and entry["latency_p99_s"]["mean"] > _ZOOM * slo_s
        ):
            _point(axes, entry)
    for policy, label, colour in _LINES:
        cost = [entry["cost"]["mean"] for entry in entries if entry["policy"] == policy]
        if cost:
            axes.axvline(cost[0] / 1000, color=colour, linewidth=1, label=label)
    if blind_cost is not None:
        axes.axvline(
            blind_cost / 1000,
            color="tab:green",
            linewidth=1,
            linestyle="--",
            label="non-anticipative",
        )
    axes.axhline(slo_s, color="0.4", linewidth=1, linestyle=":", label="objective")
    axes.set(
        xlabel="cost (1,000 slot-seconds)",
        ylabel="latency, 99 % (s)",
        yscale="linear" if zoomed else "log",
    )
    if zoomed:
        axes.set_ylim(0, _ZOOM * slo_s)
    axes.legend(fontsize=8)


def _point(axes: Any, entry: Mapping[str, Any]) -> None:
    cost, late = entry["cost"], entry["latency_p99_s"]
    x, y = cost["mean"] / 1000, late["mean"]
    colour = "tab:red" if entry["policy"] == OURS else "tab:blue"
    spans = [
        [[x - cost["low"] / 1000], [cost["high"] / 1000 - x]],
        [[y - late["low"]], [late["high"] - y]],
    ]
    kept = entry["attained"] == 1
    axes.errorbar(
        x,
        y,
        xerr=spans[0],
        yerr=spans[1],
        fmt="o",
        color=colour,
        markerfacecolor=colour if kept else "none",
        linewidth=0.8,
    )
    axes.annotate(
        entry["policy"],
        (x, y),
        fontsize=7,
        xytext=(2, 4),
        textcoords="offset points",
        rotation=60,
        annotation_clip=True,
    )
