"""The one-step-ahead errors of the batch model of ``predictive``, from a journal that is decided
again.

At each observation, the policy has a batch model learned from the batches so far. The next
observation contains a new batch: the previous model predicts its time from its rows and slots, and
the prediction is compared with the measured time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rheostat.model import Memory, Observation, Record
from rheostat.policies.predictive.policy import Predictive
from rheostat.policies.predictive.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Errors are log(batch time / predicted time): 0.1 means a prediction 10 % too short."""

    errors: tuple[float, ...] = ()
    """Errors of the model, for the batches that it learned from afterwards."""

    repeated: tuple[float, ...] = ()
    """Errors for the same batches if the prediction were the time of the previous batch."""

    unsettled: tuple[float, ...] = ()
    """Errors of the model, for batches that began before a change of size had settled."""

    looks: int = 0
    same_decisions: int = 0
    """Observations at which deciding again gave the size and the reason of the journal."""


def prediction(records: Iterable[Record], policy: Predictive) -> Prediction:
    """Return the errors of the batch model over a journal that begins with the job."""
    memory: Memory = {}
    by_kind: dict[str, list[float]] = {"errors": [], "repeated": [], "unsettled": []}
    looks = same = 0
    for record in records:
        if record.raw is None or record.observation is None:
            continue
        before = memory
        decision, memory = policy.decide(record.observation, before)
        looks += 1
        same += (decision.target, decision.reason) == (record.raw.target, record.raw.reason)
        for name, error in _errors(record.observation, before, memory).items():
            by_kind[name].append(error)
    # Rounded, because a committed run keeps them as text.
    lists = {name: tuple(round(e, 4) for e in errors) for name, errors in by_kind.items()}
    return Prediction(**lists, looks=looks, same_decisions=same)


def together(several: Iterable[Prediction]) -> Prediction:
    """Return the errors of several days combined."""
    total = Prediction()
    for part in several:
        total = Prediction(
            errors=total.errors + part.errors,
            repeated=total.repeated + part.repeated,
            unsettled=total.unsettled + part.unsettled,
            looks=total.looks + part.looks,
            same_decisions=total.same_decisions + part.same_decisions,
        )
    return total


def size(errors: Iterable[float], share: float) -> float | None:
    """Return the absolute error that a share of the batches stays within; None without batches."""
    off = [abs(error) for error in errors]
    return float(np.quantile(off, share)) if off else None


def _errors(now: Observation, before: Memory, after: Memory) -> dict[str, float]:
    """Return the errors of this observation's new batch; empty without batch or model."""
    old, new = State.from_json(before), State.from_json(after)
    known = old.batches.identified()
    if (new.batch_s, new.batch_rows) == (old.batch_s, old.batch_rows):
        return {}
    if known is None or not old.batch_s or not new.batch_s or not new.batch_rows:
        return {}
    # Slots are counted as in the policy.
    slots = (now.executors or 1) * (now.slots_per_executor or 1)
    error = math.log(new.batch_s / known.model.batch_s(new.batch_rows, slots))
    if new.batches == old.batches:
        return {"unsettled": error}
    return {"errors": error, "repeated": math.log(new.batch_s / old.batch_s)}
