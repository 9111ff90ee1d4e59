"""The Universal Scalability Law: the throughput of n slots that wait for each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rheostat.errors import BadInput

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Usl:
    """C(n) = n / (1 + sigma (n - 1) + kappa n (n - 1)): the throughput of n slots over that of one.

    ``sigma`` is the serial share of the work (contention), ``kappa`` the cost of keeping each pair
    of slots consistent (coherency); with 0 and 0 the throughput is linear. With ``kappa`` above 0
    the throughput falls beyond some number of slots.

    Source: Gunther, "A General Theory of Computational Scalability Based on Rational Functions"
    (arXiv 0808.1431), eq. 4.
    """

    sigma: float = 0.0
    kappa: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.sigma <= 1 and 0 <= self.kappa <= 1):
            raise BadInput(
                "sigma and kappa of a scalability curve must be between 0 and 1, but they are"
                f" {self.sigma} and {self.kappa}"
            )

    def slowdown(self, slots: float) -> float:
        """Return the run time on one of ``slots`` slots over that on a single slot: n / C(n)."""
        more = max(0.0, slots - 1)
        return 1 + self.sigma * more + self.kappa * slots * more
