"""The M/M/k queue: the Erlang formulas that policies need."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Station:
    """``k`` servers of rate ``mu``, arrivals at ``lam``; ``blocking``: Erlang's B(k, lam / mu)."""

    lam: float
    mu: float
    k: int = 0
    blocking: float = 1.0

    @property
    def time_s(self) -> float:
        """Mean sojourn time in seconds: C(k, a) / (k mu - lam) + 1 / mu; infinite unless k > a."""
        # At full load the queue grows without bound, and the formula would divide by 0.
        if self.k * self.mu <= self.lam:
            return math.inf
        waiting = self.blocking / (
            1 - self.lam / (self.k * self.mu) * (1 - self.blocking)
        )  # Erlang C from B
        return waiting / (self.k * self.mu - self.lam) + 1 / self.mu

    def with_one_more(self) -> Station:
        """Return the station with one more server: B(k) = a B(k-1) / (k + a B(k-1))."""
        # By recursion, because k! in the closed form overflows a float from 171 servers on.
        offered = self.lam / self.mu * self.blocking
        return replace(self, k=self.k + 1, blocking=offered / (self.k + 1 + offered))
