"""Contention: work takes longer the more slots share a resource."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Learnt: TypeAlias = Mapping[str, Any]

_RIDGE = 0.04
"""Weight of the prior, no contention: (4 % error of a comparison / expected exponent 0.2) squared.
Measured curves have exponents of 0.2 to 0.25."""

_FORGET = 0.1
_LEVEL = 0.3
_SETTLED = 3
"""Batches after which a size is compared with the previous one."""


@dataclass(frozen=True, slots=True)
class Contention:
    """Work per row grows with (slots / ``among``) ^ ``exponent`` up to ``most`` slots and is flat
    beyond; ``among`` is the number of slots at which it was measured.
    """

    exponent: float = 0.0
    most: float = math.inf
    among: float = 1.0

    def slowdown(self, slots: float) -> float:
        """Return the run time on one of ``slots`` slots over the measured one."""
        if not self.exponent:
            return 1.0
        return float((min(slots, self.most) / self.among) ** self.exponent)


def with_work(learnt: Learnt, slots: int, off: float) -> dict[str, Any]:
    """Return the state after a batch whose log work was ``off`` above its prediction without
    contention.

    Only consecutive sizes are compared, so that drifting costs cancel out, and with them the
    correlation of size and load.
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
    """Return the slope of log(work) over log(slots), shrunk towards 0; flat beyond 1.5 times the
    ``largest`` observed size.
    """
    squares, products = learnt.get("moments", (0.0, 0.0))
    return Contention(min(max(products / (squares + _RIDGE), 0.0), 0.5), 1.5 * largest, among)
