"""How many executors hold so many receivers: each takes a core, and the batches need one, too."""

from __future__ import annotations

SPARE_CORES = 1
"""SPARK-12133 asks that the cores hold all N receivers; with exactly N no batch would ever run."""


def cores_needed(receivers: int) -> str:
    """Return in words how many cores so many receivers need, that of the batches included."""
    return f"{receivers} receivers need {receivers + SPARE_CORES} cores"


def executors_holding(receivers: int, cores: int) -> int:
    """Return the fewest executors of so many cores that hold all receivers and leave a core for the
    batches; 1 where there are none.
    """
    return -(-(receivers + SPARE_CORES) // cores) if receivers else 1


def receivers_held(executors: int, cores: int) -> int:
    """Return how many receivers so many executors hold when a core is left; at least 1."""
    return max(1, executors * cores - SPARE_CORES)
