"""DS2 (OSDI 2018): every operator gets the slots that its target rate needs, in one step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation, Stage, hold
from rheostat.plural import counted
from rheostat.policies.parameters import About, check_limits, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.true_rates import Needs, executors_for, job_slots, needs, rounded_up

READINGS = ("per operator", "max", "sum")


@dataclass(frozen=True, slots=True)
class Ds2:
    """pi_i = target rate_i / true rate_i; slots = max of ceil(pi_i x (1 + factor)), or the sum over
    1 - fixed share.

    ``per operator`` rounds every operator (slots are shared, so the largest decides); ``max``
    rounds the largest; ``sum`` lets the stages of a micro-batch take turns on the same slots, less
    the share of the trigger interval that is a fixed cost (batch time outside ``addBatch``).

    The epochs and the dead band of DS2's scaling manager are off by default; as published:
    ``interval_s=10 warm_up=2 dead_band=1``.
    """

    about: ClassVar[About] = About(
        formula=(
            "T_i = external rate of a source, else sum of O*_u over upstreams\n"
            "pi_i = T_i / (rows_in / busy_s); O*_i = pi_i x rows_out / busy_s\n"
            "per operator, max: slots = max over i of ceil(pi_i x (1 + factor))\n"
            "sum: slots = ceil(sum of pi_i x (1 + factor) / (1 - fixed cost / trigger_s))\n"
            "executors = ceil(slots / slots_per_executor)"
        ),
        source=(
            "Kalavri et al., Three Steps is All You Need (DS2), OSDI 2018, equations 4 to 8; `sum`"
            " as its Timely variant"
        ),
        fails_when=(
            "there is lag (it has no term for it), keys are skewed, or capacity does not grow"
            " linearly with slots"
        ),
        steady=Observation(
            t_s=0.0,
            executors=4,
            slots_per_executor=1,
            input_rows_per_s=3000.0,
            inputs={"kafka": 3000.0},
            stages=(
                Stage(name="map", upstream=("kafka",), rows_in=3000.0, rows_out=1500.0, busy_s=3.6),
                Stage(name="count", upstream=("map",), rows_in=1500.0, rows_out=100.0, busy_s=2.0),
            ),
        ),
        monotone=True,
    )

    live_signals: ClassVar[frozenset[str]] = frozenset({"stages"})

    read: str = parameter("per operator", "per operator, max or sum", "name")
    factor: float = parameter(0.0, "over-provisioning", "1")
    fixed_s: float = parameter(
        0.0, "fixed cost of a batch where its parts are unknown (read: sum)", "s"
    )
    interval_s: float = parameter(0.0, "length of an epoch; 0: every tick is one", "s")
    warm_up: int = parameter(
        0, "epochs that are ignored at the start and after a change of size", "epochs"
    )
    activation: int = parameter(
        1, "epochs that are evaluated before a change", "epochs", at_least=1
    )
    dead_band: int = parameter(0, "scaling in needs more than this many slots less", "slots")

    def __post_init__(self) -> None:
        if self.read.replace("-", " ") not in READINGS:
            raise BadInput(f"read must be one of {', '.join(READINGS)}, but it is {self.read!r}")
        check_limits(self)

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size at the end of an epoch; keep it within an epoch and during warm-up."""
        state = self._epoch(observation, memory)
        if state is None:
            return hold(observation, "between two epochs"), memory
        current, operator_needs = job_slots(observation), needs(observation)
        slots = self._slots(observation, operator_needs)
        if slots is None or current is None or not operator_needs.operators:
            full = "the fixed cost of a batch fills the trigger interval"
            why = full if operator_needs.operators else operator_needs.detail
            return hold(observation, f"size kept: {why}"), state
        # Epochs count from the last change of size, because executors are cold during the warm-up.
        if state["epoch"] < self.warm_up + self.activation:
            why = f"{counted(state['epoch'], 'epoch')} since the last change of size"
            return hold(observation, f"size kept: {why}"), state
        shares = {f"pi {operator.name}": operator.slots for operator in operator_needs.operators}
        evidence = {"slots": slots, **shares}
        if current - self.dead_band <= slots < current:
            why = f"{slots} of {counted(current, 'slot')} would do, within the dead band"
            return hold(observation, f"size kept: {why}", evidence), state
        reason = f"{counted(slots, 'slot')} needed for {operator_needs.detail} ({self.read})"
        target = executors_for(slots, observation)
        return Decision(target=target, reason=reason, evidence=evidence), state

    def _slots(self, observation: Observation, operator_needs: Needs) -> int | None:
        """Return the number of slots, at least 1; None if no number suffices."""
        wanted = [operator.slots * (1 + self.factor) for operator in operator_needs.operators]
        if self.read != "sum":
            # The stages of a batch share the slots, so the operator that needs most decides.
            return max([1, *(rounded_up(pi) for pi in wanted)])
        # Stages take turns within a batch: their times add up within what the fixed cost leaves.
        free = 1 - self.fixed_share(observation)
        slots = sum(wanted) / free if free > 0 else math.inf
        return max(1, rounded_up(slots)) if math.isfinite(slots) else None

    def fixed_share(self, observation: Observation) -> float:
        """Return the share of the trigger interval without tasks; 0 if batches run back to back."""
        work_s, fixed_s = (observation.batch_parts_s or {}).get("addBatch"), self.fixed_s
        if work_s is not None and observation.batch_s is not None:
            fixed_s = max(0.0, observation.batch_s - work_s)
        return fixed_s / observation.trigger_s if observation.trigger_s else 0.0

    def _epoch(self, observation: Observation, memory: Memory) -> dict[str, Any] | None:
        """Return the memory at the end of an epoch; None within an epoch."""
        now, executors = observation.t_s, observation.executors
        if 0 <= now - memory.get("t_s", -math.inf) < self.interval_s:
            return None
        # The registered executors, not the target, because the measurements were made on them.
        same = memory.get("executors") == executors
        epoch = memory.get("epoch", 0) + 1 if same else 1
        return {"t_s": now, "executors": executors, "epoch": epoch}
