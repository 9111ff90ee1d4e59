"""The Universal Scalability Law: what n slots are worth when they wait for each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    0 more slots are slower from ``peak`` on.

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

    def capacity(self, slots: float) -> float:
        """Return C(n), for n of 0 or more; below one slot it is linear."""
        more = max(0.0, slots - 1)
        return slots / (1 + self.sigma * more + self.kappa * slots * more)

    def slowdown(self, slots: float) -> float:
        """Return how much longer a piece of work takes on one of ``slots`` slots than on one alone:
        n / C(n).
        """
        more = max(0.0, slots - 1)
        return 1 + self.sigma * more + self.kappa * slots * more

    @property
    def peak(self) -> float:
        """The number of slots beyond which throughput falls; infinite without coherency cost."""
        return math.sqrt((1 - self.sigma) / self.kappa) if self.kappa > 0 else math.inf


def fit(slots: Sequence[float], throughput: Sequence[float]) -> tuple[float, Usl]:
    """Return the throughput of one slot and the curve that fit measurements best (least squares of
    n / throughput).

    n / X(n) = (1 + sigma (n - 1) + kappa n (n - 1)) / X(1) is linear in its three terms; terms that
    come out negative are left out. Raises BadInput for fewer than two different sizes or a number
    that is not above 0.
    """
    n, x = np.asarray(slots, dtype=float), np.asarray(throughput, dtype=float)
    if len(n) != len(x) or len(set(n.tolist())) < 2 or not ((n > 0).all() and (x > 0).all()):
        raise BadInput(
            "a scalability curve needs throughputs above 0 at two different numbers of slots or"
            " more"
        )
    terms = np.stack([np.ones_like(n), n - 1, n * (n - 1)], axis=1)
    # The fit without a bound is best where it is feasible; else the best of the feasible ones with
    # terms left out.
    kept = ((0, 1, 2), (0, 1), (0, 2), (0,))
    solved = [
        (_left(terms, columns, n / x), columns)
        for columns in kept
        if len(columns) <= len(set(n.tolist()))
    ]
    feasible = [
        (loss, coefficients, columns)
        for (loss, coefficients), columns in solved
        if coefficients[0] > 0 and (coefficients >= 0).all()
    ]
    _, coefficients, columns = min(feasible, key=lambda candidate: candidate[0])
    given = dict(zip(columns, (coefficients / coefficients[0]).tolist(), strict=True))
    return float(1 / coefficients[0]), Usl(min(1.0, given.get(1, 0.0)), min(1.0, given.get(2, 0.0)))


def _left(terms: Floats, columns: tuple[int, ...], wanted: Floats) -> tuple[float, Floats]:
    coefficients = np.asarray(
        np.linalg.lstsq(terms[:, columns], wanted, rcond=None)[0], dtype=np.float64
    )
    return float(np.square(terms[:, columns] @ coefficients - wanted).sum()), coefficients
