"""Executors and cores that receivers need: each occupies a core, and batches need one, too."""

from __future__ import annotations

import math

SPARE_CORES = 1
"""SPARK-12133 requires a core per receiver; with exactly that many no batch would run."""


def cores_needed(receivers: int) -> str:
    """Return in words how many cores the receivers need, with one for the batches."""
    return f"{receivers} receivers need {receivers + SPARE_CORES} cores"


def executors_holding(receivers: int, cores: int) -> int:
    """Return the fewest executors with ``cores`` each that hold all receivers and leave a core for
    the batches; 1 without receivers.
    """
    return math.ceil((receivers + SPARE_CORES) / cores) if receivers else 1


def receivers_held(executors: int, cores: int) -> int:
    """Return how many receivers fit on the executors if one core stays free; at least 1."""
    return max(1, executors * cores - SPARE_CORES)
