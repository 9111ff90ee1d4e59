"""Two thresholds on utilization: the baseline of rule-based autoscaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, hold
from rheostat.policies.parameters import About, check_limits, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.true_rates import DEFINITIONS, utilization


@dataclass(frozen=True, slots=True)
class Threshold:
    """Utilization > high: step executors more; utilization < low: step fewer; else no change."""

    about: ClassVar[About] = About(
        formula="busy > high: executors + step; busy < low: executors - step; else executors",
        source=(
            "threshold-based rules, the first class of both surveys (Varga et al., section 2;"
            " Koper, section 2.2)"
        ),
        fails_when=(
            "one step is more than high - low of the load (it flaps), or load changes faster than a"
            " step per cooldown"
        ),
        steady=Observation(t_s=0.0, executors=4, busy=0.6),
    )

    high: float = parameter(0.8, "above this utilization, scale out", "1", at_most=1)
    low: float = parameter(0.4, "below this utilization, scale in", "1")
    step: int = parameter(1, "executors added or removed at a time", "executors", at_least=1)
    utilization: str = parameter(
        "varga", "its definition: varga (busy) or koper (not idle)", "text", choices=DEFINITIONS
    )

    def __post_init__(self) -> None:
        check_limits(self)
        if not self.low < self.high:
            raise BadInput(f"low must be below high, but they are {self.low} and {self.high}")

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the current size, or the size one step away."""
        used, size = utilization(observation, self.utilization), observation.size
        if used is None or size is None:
            return hold(observation, "size kept: utilization or size is unknown"), {}
        if used > self.high:
            step, position = self.step, f"above {self.high}"
        elif used < self.low:
            step, position = -self.step, f"below {self.low}"
        else:
            step, position = 0, "between the thresholds"
        reason, evidence = f"utilization is {used:.2f}, {position}", {"used": used}
        # The guards enforce the minimum, but a job needs at least one executor.
        return Decision(target=max(1, size + step), reason=reason, evidence=evidence), {}
