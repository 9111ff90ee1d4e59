"""Contention: how much longer a piece of work takes the more slots share something."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Learnt: TypeAlias = Mapping[str, Any]

_RIDGE = 0.04
"""The prior of none: (4 % error of a comparison / 0.2 expected of the exponent) squared; curves
that were measured have 0.2 to 0.25."""

_FORGET = 0.1
_LEVEL = 0.3
_SETTLED = 3
"""Batches after which a size is compared with the one before."""


@dataclass(frozen=True, slots=True)
class Contention:
    """Work per row grows as (slots / ``among``) ^ ``exponent``, up to ``most`` slots: none is
    foretold beyond. ``among`` so many it was measured.
    """

    exponent: float = 0.0
    most: float = math.inf
    among: float = 1.0

    def slowdown(self, slots: float) -> float:
        """Return how much longer work takes on one of ``slots`` slots than where it was
        measured.
        """
        if not self.exponent:
            return 1.0
        return float((min(slots, self.most) / self.among) ** self.exponent)


def with_work(learnt: Learnt, slots: int, off: float) -> dict[str, Any]:
    """Return what is known after a batch whose work was ``off`` (a logarithm) above what its rows
    let expect without contention.

    Only sizes that follow each other are compared: that cost drifts and that the load chooses the
    size cancel out.
    """
    updated = {**learnt}
    if slots != learnt.get("slots"):
        known = learnt.get("count", 0) >= _SETTLED
        updated["before"] = [learnt["slots"], learnt["level"]] if known else None
        updated |= {"slots": slots, "level": off, "count": 1}
        return updated
    updated["count"] = learnt["count"] + 1
    updated["level"] = learnt["level"] + max(_LEVEL, 1 / updated["count"]) * (off - learnt["level"])
    if updated["count"] == _SETTLED and (before := learnt["before"]) is not None:
        apart = math.log(slots / before[0])
        squares, products = learnt.get("moments", (0.0, 0.0))
        updated["moments"] = [
            (1 - _FORGET) * squares + apart * apart,
            (1 - _FORGET) * products + apart * (updated["level"] - before[1]),
        ]
    return updated


def contention(learnt: Learnt, largest: int, among: float = 1.0) -> Contention:
    """Return the slope of log(work) over log(slots), shrunk to 0; flat beyond 1.5 times the
    ``largest`` size seen.
    """
    squares, products = learnt.get("moments", (0.0, 0.0))
    return Contention(min(max(products / (squares + _RIDGE), 0.0), 0.5), 1.5 * largest, among)
