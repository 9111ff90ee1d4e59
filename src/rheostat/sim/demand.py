"""Computes the demand curve: the fewest executors that meet the SLO at each load, by search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rheostat.errors import BadInput
from rheostat.guards import standard_guards
from rheostat.model import Limits, Slo
from rheostat.policies.rules.fixed import Fixed
from rheostat.sim.engine import NoJournal, simulate
from rheostat.sim.measures import measures
from rheostat.sim.plant import Floats, Plant, Steps

_MINUTE_S, _WARM_UP_S = 60.0, 300.0


@dataclass(frozen=True, slots=True)
class DemandCurve:
    """Executors needed at ascending loads (rows/s); between two loads, those of the higher one."""

    rates: tuple[float, ...]
    executors: tuple[int, ...]
    held: tuple[bool, ...]
    """Whether the objective is met at each load; if not, ``executors`` is the largest size tried.
    """

    def at(self, rates_per_s: Floats) -> Floats:
        """Return the executors that these loads need (beyond the curve, its last value)."""
        return np.array(self.executors, dtype=float)[
            np.minimum(np.searchsorted(self.rates, rates_per_s), len(self.rates) - 1)
        ]


def demand_over(
    curve: DemandCurve, arrived: Callable[[Floats], Floats], seconds: float, least: int
) -> Steps:
    """Return the demand over time from each minute's mean load, at least ``least``."""
    load = minute_rates(arrived, seconds)
    return Steps(load.t_s, np.maximum(curve.at(load.values), float(least)))


def minute_rates(arrived: Callable[[Floats], Floats], seconds: float) -> Steps:
    """Return each minute's mean load in rows per second."""
    # The last minute may be incomplete.
    edges = np.append(np.arange(0.0, seconds, _MINUTE_S), seconds)
    return Steps(edges[:-1], np.diff(arrived(edges)) / np.diff(edges))


def demand_curve(
    plant: Callable[[float, int], Plant],
    rates: Sequence[float],
    slo: Slo,
    most: int,
    *,
    length_s: float = 900.0,
) -> DemandCurve:
    """Return the demand curve of ``plant(rate, executors)``, holding each load for ``length_s``.

    The search is monotone and ends at the first load that ``most`` executors cannot handle. Raises
    BadInput without loads. Sources: Herbst et al., SPEC-RG-2016-01; Henning and Hasselbring
    (Theodolite).
    """
    if not rates:
        raise BadInput("a demand curve needs at least one load")
    rising = sorted(rates)
    needed: list[int] = []
    size, held = 1, True
    for rate in rising:
        while held and not _holds(plant(rate, size), slo, size, length_s):
            held = size < most
            size = min(size + 1, most)
        if not held:
            break
        # Keep the size for the next load: a higher load never needs fewer executors.
        needed.append(size)
    beyond = len(rising) - len(needed)
    sizes = needed + [most] * beyond
    attained = [True] * len(needed) + [False] * beyond
    return DemandCurve(tuple(rising), tuple(sizes), tuple(attained))


def _holds(plant: Plant, slo: Slo, size: int, length_s: float) -> bool:
    guards = standard_guards(Limits.between(size, size))
    run = simulate(
        plant, Fixed(size), guards, until_s=length_s, interval_s=60.0, journal=NoJournal()
    )
    return measures(run.ledger, slo, warm_up_s=_WARM_UP_S).attained
