"""The plot of ``benchmarks/repartition.py``: seconds of a rewrite per change, and the cost of each
way of reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

_WAYS = {
    "rheostat": ("Rheostat", "#2f6f9f"),
    "spark": ("Spark's runner", "#b4531f"),
    "once": ("each old partition once", "#2f6f9f"),
    "filter": ("all, filtered", "#b4531f"),
    "key": ("an index of keys", "#7b8794"),
}


def draw(result: Mapping[str, Any], path: Path) -> None:
    """Write the plot of a result as PNG."""
    figure = Figure(figsize=(13, 3.6), dpi=120)
    rewrites, reads, sizes, seeks = figure.subplots(1, 4)
    _bars(rewrites, result, ("rheostat", "spark"), "s", "seconds of a rewrite", 1.0)
    _bars(reads, result, ("once", "filter", "key"), "s", "seconds of reading alone", 1.0)
    _bars(sizes, result, ("once", "filter", "key"), "bytes_read", "GB read", 1e9)
    _bars(seeks, result, ("once", "filter", "key"), "seeks", "seeks", 1.0)
    seeks.set_yscale("log")
    figure.suptitle(
        f"Spark {result['spark']}, {result['keys']:,} keys of {result['value_bytes']} bytes,"
        f" {result['partitions']} partitions before"
    )
    figure.tight_layout()
    FigureCanvasAgg(figure).print_png(path)


def _bars(
    panel: Any,
    measured: Mapping[str, Any],
    ways: tuple[str, ...],
    field: str,
    title: str,
    unit: float,
) -> None:
    results = measured["results"]
    changes = sorted({result["to"] for result in results})
    present = [way for way in ways if any(result["way"] == way for result in results)]
    width = 0.8 / max(len(present), 1)
    for place, way in enumerate(present):
        name, colour = _WAYS[way]
        heights = [
            median(
                [result[field] for result in results if (result["way"], result["to"]) == (way, to)]
                or [0]
            )
            / unit
            for to in changes
        ]
        at = [number + place * width for number in range(len(changes))]
        panel.bar(at, heights, width, label=name, color=colour)
    middle = width * (len(present) - 1) / 2
    panel.set_xticks([number + middle for number in range(len(changes))])
    panel.set_xticklabels([f"to {to}" for to in changes])
    panel.set_title(title, fontsize=10)
    panel.margins(y=0.4)  # room for the legend
    panel.legend(fontsize=7)
