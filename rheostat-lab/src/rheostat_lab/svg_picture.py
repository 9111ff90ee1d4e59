"""Pictures as SVG that are the same bytes for the same content: without a date, with ids that
follow from the name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure


@contextmanager
def picture(path: Path, width_in: float, height_in: float) -> Iterator[Figure]:
    """Give a figure of so many inches to draw on, and write it to ``path`` when it is drawn; raises
    OSError where that cannot be.
    """
    with rc_context({"svg.hashsalt": path.stem, "svg.fonttype": "none"}):
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        yield figure
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
