"""Checks of the parameters of loads."""

from __future__ import annotations

import math

from rheostat.errors import BadInput


def at_least(limit: float, **values: float) -> None:
    """Raise BadInput for the first value that is below ``limit`` or not a finite number."""
    for name, value in values.items():
        if not (math.isfinite(value) and value >= limit):
            raise BadInput(f"{name} must be a number of at least {limit:g}, but it is {value}")


def above(limit: float, **values: float) -> None:
    """Raise BadInput for the first value that is not above ``limit`` or not a finite number."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > limit):
            raise BadInput(f"{name} must be a number above {limit:g}, but it is {value}")
