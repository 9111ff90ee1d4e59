"""The Universal Scalability Law: what n slots are worth when they wait for each other."""

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

    ``sigma`` is the share of the work that only one can do at a time (contention), ``kappa`` the
    cost of keeping every two of them in agreement (coherency); 0 and 0 is linear. With kappa above
    0 more slots are slower beyond some number.

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
        """Return how much longer a piece of work takes on one of ``slots`` slots than on one alone:
        n / C(n).
        """
        more = max(0.0, slots - 1)
        return 1 + self.sigma * more + self.kappa * slots * more
