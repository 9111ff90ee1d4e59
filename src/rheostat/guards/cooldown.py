"""Cooldown: after a change of size, wait before the next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation


@dataclass(frozen=True, slots=True)
class Cooldown:
    """Holds the size after a rescaling: ``out_s`` before the next scale-out (default 10 s),
    ``in_s`` before the next scale-in (60 s).

    Scaling out waits less: a job that falls behind cannot wait, while an executor too many costs
    little. The measures after a change are those of cold executors and should not be decided upon
    at all (Koper §4.6 uses 120 and 240 s for jobs that restart; this one does not restart).
    """

    out_s: float = 10.0
    in_s: float = 60.0
    name: str = "cooldown"

    def __post_init__(self) -> None:
        for which, value in (("out_s", self.out_s), ("in_s", self.in_s)):
            if value < 0:
                raise BadInput(f"cooldown {which} must be 0 seconds or more, but it is {value}")

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the current target while the cooldown lasts; remembers when the
        size changed last.
        """
        current = observation.size
        # A decision to stay is no change, and must not begin the wait anew.
        if current is None or decision.target == current:
            return decision, memory
        changed_s = memory.get("changed_s")
        wait_s = self.out_s if decision.target > current else self.in_s
        if (
            changed_s is not None and 0 <= now - changed_s < wait_s
        ):  # a clock that was put back must not hold for hours
            left_s = wait_s - (now - changed_s)
            return (
                replace(
                    decision,
                    target=current,
                    reason=f"{decision.reason}; cooling down for {left_s:.0f} s more",
                ),
                memory,
            )
        # The time of the decision: that of the registration is not known here, and comes after it.
        return decision, {"changed_s": now}
