"""DS2-modern (Koper 2022, 3.5): the largest parallelism of DS2 as executors, with a cooldown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.policies.parameters import ALMOST_FULL, About, Limited, check_limits, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.last_resize import latest_size, resized
from rheostat.signals.true_rates import executors_for, is_known, needs, rounded_up


@dataclass(frozen=True, slots=True)
class Ds2Modern(Limited):
    """slots = ceil((1 + factor) x max over i of ceil(pi_i)), rounded twice as in the thesis; then a
    cooldown of ``cooldown_s``.

    The cooldown begins with an observed change of size, whatever its cause (the thesis' scripts use
    the slope of the registered executors), so a change that a guard refused starts none.

    pi_i is DS2's, from the stages; without stages, the job is one operator whose true rate is
    ``processed_rows_per_s / busy``, which is all that the thesis' recordings allow.
    """

    about: ClassVar[About] = About(
        formula=(
            "slots = ceil((1 + factor) x max over i of ceil(target rate_i / true rate_i)); at most"
            " one change per cooldown_s"
        ),
        source=(
            "Koper, A Comparison of Auto-scaling Techniques for Distributed Stream Processing"
            " (2022), section 3.5, equation 3.7"
        ),
        fails_when=(
            "there is lag (it has no term for it), or the busy time is too low and so the true rate"
            " too high: then it is too small"
        ),
        steady=ALMOST_FULL,
    )

    live_signals: ClassVar[frozenset[str]] = frozenset({"stages"})

    factor: float = parameter(0.0, "over-provisioning; the thesis has 0, 0.33 and 0.66", "1")
    cooldown_s: float = parameter(240.0, "least time between two changes", "s")

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size; keep the current one during the cooldown."""
        now, (at_s, change) = observation.t_s, resized(observation, memory)
        changed_s = at_s if change else memory.get("changed_s")
        kept = {"changed_s": changed_s, "seen": latest_size(observation)}
        if changed_s is not None and 0 <= now - changed_s < self.cooldown_s:
            return hold(observation, f"cooling down since {now - changed_s:.0f} s"), kept
        return self._decide(observation), kept

    def _decide(self, observation: Observation) -> Decision:
        operator_needs = needs(observation)
        if not operator_needs.operators:
            return hold(observation, f"size kept: {operator_needs.detail}")
        largest = max(operator_needs.operators, key=lambda operator: operator.slots)
        # Equation 3.7, rounded twice like the thesis' script: 2.1 slots plus 20 % give 4, not 3.
        slots = rounded_up((1 + self.factor) * max(1, rounded_up(largest.slots)))
        target, evidence = executors_for(slots, observation), {"pi": largest.slots, "slots": slots}
        if held := self._held(observation, target):
            return hold(observation, held, evidence)
        reason = (
            f"{operator_needs.detail}: {largest.name} needs {largest.slots:.2f} slots at"
            f" {largest.rate_per_s:,.0f} rows/s, {slots} with the factor"
        )
        return Decision(target=target, reason=reason, evidence=evidence)

    def _held(self, observation: Observation, target: int) -> str:
        """Return why the size must not become ``target``; empty if it may."""
        return ""


@dataclass(frozen=True, slots=True)
class Ds2ModernAdapted(Ds2Modern):
    """DS2-modern that scales out only above an event-time lag and in only below another."""

    about: ClassVar[About] = About(
        formula=(
            "slots as ds2-modern; out only if lag_s > up_lag_s, in only if lag_s < down_lag_s; at"
            " most one change per cooldown_s"
        ),
        source=(
            "Koper, A Comparison of Auto-scaling Techniques for Distributed Stream Processing"
            " (2022), section 3.5.4"
        ),
        fails_when=(
            "a step out is too small to work off the lag: every cooldown another one follows, each"
            " with its own disturbance"
        ),
        steady=ALMOST_FULL,
    )

    up_lag_s: float = parameter(5.0, "event-time lag above which it may scale out", "s")
    down_lag_s: float = parameter(1.0, "event-time lag below which it may scale in", "s")

    def __post_init__(self) -> None:
        check_limits(self)
        if not self.down_lag_s <= self.up_lag_s:
            raise BadInput(
                f"down_lag_s must be between 0 and up_lag_s, but they are {self.down_lag_s} and"
                f" {self.up_lag_s}"
            )

    def _held(self, observation: Observation, target: int) -> str:
        lag_s, size = observation.wait_s, observation.size or 1
        if not is_known(lag_s):
            return "size kept: the event-time lag is unknown"
        # Section 3.5.4: the lag must confirm the recommendation in either direction.
        if target > size and not lag_s > self.up_lag_s:
            return (
                f"size kept: {target} would be wanted, but the lag ({lag_s:.1f} s) is not above"
                f" {self.up_lag_s} s"
            )
        if target < size and not lag_s < self.down_lag_s:
            return (
                f"size kept: {target} would do, but the lag ({lag_s:.1f} s) is not below"
                f" {self.down_lag_s} s"
            )
        return ""
