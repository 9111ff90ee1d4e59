"""The plot of ``benchmarks/live_rescale.py``: disturbances by way and direction with their control,
and the batches over time.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

_DIRECTIONS = {"in": "#2f6f9f", "out": "#b4531f", "out_start": "#7b8794"}
_SHOWN_S = 600.0


def draw(result: Mapping[str, Any], path: Path) -> None:
    """Write the plot of a result as PNG."""
    ways = result["ways"]
    figure = Figure(figsize=(11, 3.2 + 2.2 * len(ways)), dpi=120)
    panels = figure.subplots(
        1 + len(ways), 1, gridspec_kw={"height_ratios": [1.5, *[1] * len(ways)]}, squeeze=False
    )[:, 0]
    _disturbances(panels[0], ways)
    for panel, (way, measured) in zip(panels[1:], ways.items(), strict=True):
        _batches(panel, way, measured)
    facts = result["what"]
    low, high = facts["executors"]
    figure.suptitle(
        f"Spark {facts['spark']}, {facts['query']}, {facts['state_mb']:g} MB of state,"
        f" {low} to {high} executors"
    )
    figure.tight_layout()
    FigureCanvasAgg(figure).print_png(path)


def _disturbances(panel: Any, ways: Mapping[str, Any]) -> None:
    labels: list[str] = []
    for way, measured in ways.items():
        for kind, colour in _DIRECTIONS.items():
            at = len(labels)
            for values, shift, shade in (
                (measured[kind]["values"], -0.12, colour),
                (measured[kind]["control_values"], 0.18, "#c5ccd3"),
            ):
                panel.scatter(
                    [at + shift] * len(values), values, s=14, color=shade, alpha=0.7, linewidths=0
                )
            labels.append(f"{way}\n{kind} n={measured[kind]['n']}")
    panel.set_xticks(range(len(labels)), labels, fontsize=8)
    panel.set_ylabel("max T / T_ref - control\n(grey: no rescale)")
    panel.set_yscale("symlog", linthresh=1.0)
    panel.axhline(0.0, color="#7b8794", linewidth=0.6)
    panel.grid(axis="y", alpha=0.3)


def _batches(panel: Any, way: str, measured: Mapping[str, Any]) -> None:
    """Draw the last minutes: each batch at its start, each rescale as a band."""
    curve = measured["curve"]
    if not curve:
        return
    end_s = curve[-1][0]
    shown = [
        (start_s - end_s, seconds) for start_s, seconds in curve if start_s >= end_s - _SHOWN_S
    ]
    panel.plot(
        [at for at, _ in shown],
        [seconds for _, seconds in shown],
        linewidth=0.8,
        marker=".",
        markersize=3,
        color="#1f2933",
    )
    for kind, requested_s, settled_s in measured["marks"]:
        if settled_s >= end_s - _SHOWN_S:
            panel.axvspan(
                requested_s - end_s,
                settled_s - end_s,
                color=_DIRECTIONS[kind],
                alpha=0.2,
                linewidth=0,
            )
    panel.set_ylabel(f"{way}\nbatch, s")
    panel.set_xlim(-_SHOWN_S if shown[0][0] < -_SHOWN_S / 2 else shown[0][0], 0)
