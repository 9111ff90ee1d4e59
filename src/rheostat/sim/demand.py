"""The demand curve: the least executors that hold the objective at each load, found by search on the plant."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rheostat.errors import BadInput
from rheostat.guards import standard_guards
from rheostat.model import Limits, Slo
from rheostat.policies.fixed import Fixed
from rheostat.sim.engine import NoJournal, simulate
from rheostat.sim.measures import measures
from rheostat.sim.plant import Plant


@dataclass(frozen=True, slots=True)
class DemandCurve:
    """Executors needed at loads (rows per second) that rise; between two loads those of the higher one."""

    rates: tuple[float, ...]
    executors: tuple[int, ...]

    def at(self, rate_per_s: float) -> int:
        """Return the executors that hold the objective at this load; above the highest load those of the highest."""
        return self.executors[min(bisect_left(self.rates, rate_per_s), len(self.rates) - 1)]


def demand_curve(
    plant: Callable[[float, int], Plant], rates: Sequence[float], slo: Slo, most: int, *, length_s: float = 900.0, warm_up_s: float = 300.0
) -> DemandCurve:
    """Return the demand curve of ``plant(rate, executors)``: each load is held for ``length_s`` at each size that may do.

    A higher load needs no fewer executors, so the search goes on where it was. Where ``most`` executors do not hold the
    objective the demand is ``most``. Raises BadInput without loads. Source: Herbst et al., SPEC-RG-2016-01; the search is that
    of Henning and Hasselbring, "How to measure scalability of distributed stream processing engines" (Theodolite).
    """
    if not rates:
        raise BadInput("a demand curve needs at least one load")
    needed, size = [], 1
    for rate in sorted(rates):
        while size < most and not _holds(plant(rate, size), slo, size, length_s, warm_up_s):
            size += 1
        needed.append(size)
    return DemandCurve(tuple(sorted(rates)), tuple(needed))


def _holds(plant: Plant, slo: Slo, size: int, length_s: float, warm_up_s: float) -> bool:
    guards = standard_guards(Limits.between(size, size))
    run = simulate(plant, Fixed(size), guards, until_s=length_s, interval_s=60.0, journal=NoJournal())
    return measures(run.ledger, slo, warm_up_s=warm_up_s).attained
