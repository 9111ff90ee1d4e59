"""Plots as SVG with identical bytes for identical content: no date, ids from the name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure


@contextmanager
def picture(path: Path, width_in: float, height_in: float) -> Iterator[Figure]:
    """Yield a figure of this size in inches to draw on, and then write it to ``path``; raises
    OSError if that fails.
    """
    with rc_context({"svg.hashsalt": path.stem, "svg.fonttype": "none"}):
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        yield figure
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
