"""A custom policy: a fixed number of rows per second and executor.

Try it: ``rheostat replay query-1_HPA_50 --policy 04_own_policy:PerExecutor --max 16``.
"""

import math
from dataclasses import dataclass, field

from rheostat import Decision, Observation
from rheostat.model import Memory, hold
from rheostat.policies.sample_order import in_order


@dataclass(frozen=True)
class PerExecutor:
    """executors = ceil(arrival rate / rows per second and executor)."""

    rows_per_s: float = field(
        default=20_000.0, metadata={"help": "capacity of one executor", "unit": "rows/s"}
    )

    @in_order  # an out-of-order sample is treated as absent
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size for the arrival rate; it has no memory."""
        rate = observation.input_rows_per_s
        if rate is None:
            return hold(observation, "size kept: the arrival rate is unknown"), memory
        needed = max(1, math.ceil(rate / self.rows_per_s))
        reason = f"{needed} needed: {rate:,.0f} rows/s at {self.rows_per_s:,.0f} per executor"
        return Decision(target=needed, reason=reason), memory


if __name__ == "__main__":  # check the contract of policies
    from rheostat.testing.contracts import policy_checks

    for promise, check in policy_checks():
        check(PerExecutor)
        print(f"kept: {promise}")
