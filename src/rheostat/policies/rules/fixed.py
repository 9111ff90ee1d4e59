"""A fixed number of executors: the baseline that every autoscaler must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rheostat.model import Decision, Memory, Observation
from rheostat.policies.parameters import About, Limited, parameter
from rheostat.policies.sample_order import in_order


@dataclass(frozen=True, slots=True)
class Fixed(Limited):
    """executors = the number given; by default the first observed size."""

    about: ClassVar[About] = About(
        formula="executors = executors given",
        source=(
            "the baseline of every comparison: a constant 5 is better than all 54 runs of Koper"
            " (2022) by that thesis' own measure"
        ),
        fails_when="the load is not constant: it pays for the peak all day, or falls behind",
        steady=Observation(t_s=0.0, executors=4),
        monotone=True,
    )

    executors: int = parameter(
        0, "size at all times; 0: the size that was found first", "executors"
    )

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the fixed size."""
        # The first observed size remains the target, even if something else changes the size later.
        size = self.executors or memory.get("executors") or observation.size
        return Decision(target=size or 1, reason=f"fixed at {size or 1}"), {"executors": size}
