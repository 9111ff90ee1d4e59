"""Balancing partitions of different weight with few moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rheostat.state.units import Unit


def balance_weights(
    current: Mapping[Unit, str | None], executors: Sequence[str], weights: Mapping[Unit, float]
) -> dict[Unit, str]:
    """Return an assignment whose loads differ by at most the largest weight.

    Unheld units go to the least loaded executor, heaviest first (Graham's LPT rule); then the most
    loaded gives the least loaded the unit nearest to half their difference.
    """
    weight = _filled(current, weights)
    assigned = {
        unit: str(holder)
        for unit, holder in sorted(current.items(), key=lambda item: item[0])
        if holder in executors
    }
    load = {
        executor: sum(weight[unit] for unit in assigned if assigned[unit] == executor)
        for executor in executors
    }
    for unit in sorted(
        (unit for unit in current if unit not in assigned), key=lambda unit: (-weight[unit], unit)
    ):
        lightest = min(executors, key=lambda e: load[e])
        assigned[unit] = lightest
        load[lightest] += weight[unit]
    # A little wider than the largest weight: sums in another order differ in their last digits, and
    # the loop would hand one unit to and fro for ever.
    tolerance = max(weight.values()) * (1 + 1e-9)
    while (gap := max(load.values()) - min(load.values())) > tolerance:
        giver, taker = max(executors, key=lambda e: load[e]), min(executors, key=lambda e: load[e])
        given = _nearest(
            gap / 2,
            {
                unit: weight[unit]
                for unit in assigned
                # Units without weight change no load: moving them would never end.
                if assigned[unit] == giver and weight[unit] > 0
            },
        )
        assigned[given] = taker
        load[giver] -= weight[given]
        load[taker] += weight[given]
    return assigned


def _nearest(weight_sought: float, weight: Mapping[Unit, float]) -> Unit:
    return min(weight, key=lambda unit: (abs(weight[unit] - weight_sought), unit))


def _filled(current: Mapping[Unit, str | None], weights: Mapping[Unit, float]) -> dict[Unit, float]:
    known = [weights[unit] for unit in current if unit in weights]
    mean = sum(known) / len(known)
    return {unit: max(0.0, weights.get(unit, mean)) for unit in current}
