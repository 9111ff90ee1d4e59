"""DRS (ICDCS 2015): a Jackson network of M/M/k stations, sized greedily to a target time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import ALMOST_FULL, About, Limited, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.statistics.mmk_queue import Station
from rheostat.signals.true_rates import executors_for, needs


@dataclass(frozen=True, slots=True)
class Drs(Limited):
    """E[T] at k = sum of lambda_i E[T_i] at k_i / lambda_0 <= objective, starting at k_i =
    floor(a_i) + 1; slots = sum of k_i.

    Every operator is an M/M/k_i station: lambda_i is its target rate, mu its true rate per slot,
    and a_i = lambda_i / mu. Each added server goes to the operator where lambda_i x E[T_i] falls
    most, which is optimal because E[T_i] is convex in k_i.
    """

    about: ClassVar[About] = About(
        formula=(
            "E[T] = sum of lambda_i E[T_i](k_i) / lambda_0; E[T_i] = C(k_i, a_i) / (k_i mu_i -"
            " lambda_i) + 1 / mu_i, C: Erlang's\nk_i = floor(a_i) + 1, then one more where lambda_i"
            " E[T_i] falls most, until E[T] <= slo; slots = sum of k_i"
        ),
        source=(
            "Fu et al., DRS: Dynamic Resource Scheduling for Real-Time Analytics over Fast Streams,"
            " ICDCS 2015"
        ),
        fails_when=(
            "rows come in batches: their wait for the batch is not in the model, so the objective"
            " hardly ever binds"
        ),
        steady=ALMOST_FULL,
    )

    live_signals: ClassVar[frozenset[str]] = frozenset({"stages"})

    slo: float = parameter(10.0, "mean time that a row may spend in the job", "s", above=0)
    max_slots: int = parameter(1000, "the greedy search ends here", "slots", at_least=1)

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size at which the network's mean sojourn time meets the objective."""
        operator_needs = needs(observation)
        if not operator_needs.operators:
            return hold(observation, f"size kept: {operator_needs.detail}"), memory
        busy = [operator for operator in operator_needs.operators if operator.rate_per_s > 0]
        # One more than the load: with exactly that many servers, an M/M/k queue grows without
        # bound.
        least = [math.floor(operator.slots) + 1 for operator in busy]
        external = observation.input_rows_per_s or sum((observation.inputs or {}).values())
        # Stability alone exceeds the search limit, or no rows arrive that could spend any time.
        if sum(least) >= self.max_slots or not 0 < external < math.inf:
            slots, time_s = sum(least), None
        else:
            stations = [Station(operator.rate_per_s, operator.per_slot) for operator in busy]
            slots, time_s = self._slots(stations, least, external)
        evidence = {"slots": slots, "stable_from": sum(least), "sojourn_s": time_s, "slo": self.slo}
        result = "the network is stable" if time_s is None else f"a row's time is {time_s:.3g} s"
        reason = (
            f"{counted(slots, 'slot')} needed for {operator_needs.detail}: {sum(least)} are stable,"
            f" with {slots} {result}"
        )
        target = executors_for(slots, observation)
        return Decision(target=target, reason=reason, evidence=evidence), memory

    def _slots(
        self, stations: list[Station], least: list[int], external: float
    ) -> tuple[int, float]:
        for n, count in enumerate(least):
            for _ in range(count):
                stations[n] = stations[n].with_one_more()
        while (
            _sojourn_s(stations, external) > self.slo
            and sum(station.k for station in stations) < self.max_slots
        ):
            more = [station.with_one_more() for station in stations]
            # Weighted by the rate: by Little's law, the sum over operators is the mean over rows.
            pairs = zip(stations, more, strict=True)
            gain = [station.lam * (station.time_s - better.time_s) for station, better in pairs]
            best = max(range(len(stations)), key=lambda n: gain[n])
            if gain[best] <= 0:  # the service alone takes longer than the objective
                break
            stations[best] = more[best]
        return sum(station.k for station in stations), _sojourn_s(stations, external)


def _sojourn_s(stations: list[Station], external: float) -> float:
    # Divided by the external rate, because a row passes each operator as often as the rates imply.
    return sum(station.lam * station.time_s for station in stations) / external
