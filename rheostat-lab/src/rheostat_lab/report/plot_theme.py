"""The colors and sizes of a run's plot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """The colors of a plot."""

    paper: str
    ink: str
    faint: str
    grid: str
    load: str
    size: str
    late: str
    parts: tuple[str, ...]
    """One color per part of a batch, in order, and one for the rest."""


LIGHT = Theme(
    paper="#ffffff",
    ink="#1f2933",
    faint="#5b6874",
    grid="#e4e7eb",
    load="#2f6f9f",
    size="#2f8f6b",
    late="#b4531f",
    parts=("#2f6f9f", "#d08a2e", "#2f8f6b", "#8a5fb0", "#b4531f", "#5b6874", "#c3cad1"),
)
DARK = Theme(
    paper="#161b22",
    ink="#e6edf3",
    faint="#9aa5b1",
    grid="#2a313c",
    load="#79b8e8",
    size="#63c7a0",
    late="#f0a36b",
    parts=("#79b8e8", "#e8c06a", "#63c7a0", "#c3a1e6", "#f0a36b", "#9aa5b1", "#4a535e"),
)


@dataclass(frozen=True, slots=True)
class Paper:
    """The width of a plot in inches, and the numbers of items that fit next to each other."""

    width_in: float
    legend_columns: int
    time_ticks: int
    title_signs: int
    """Characters per line of the plot's own title."""


WIDE = Paper(width_in=9.0, legend_columns=7, time_ticks=9, title_signs=78)
"""For a screen of 400 pixels, with letters as large as on the wide plot."""
