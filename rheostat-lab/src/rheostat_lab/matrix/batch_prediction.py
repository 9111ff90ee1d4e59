"""How far the batch model of ``predictive`` was off, one look ahead: a journal, decided again.

At each look the policy has a model of what a batch costs, from the batches until then. The next
look sees a new batch; its rows and slots are given to the model of the look before, and the time
that it says is compared with the time that the batch took.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rheostat.capacity.identify import identified
from rheostat.model import Memory, Observation, Record
from rheostat.policies.predictive.policy import Predictive
from rheostat.policies.predictive.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Errors are log(batch time / what was said of it): 0.1 is a tenth too short."""

    errors: tuple[float, ...] = ()
    """Of the model, for the batches that it then learnt from."""

    repeated: tuple[float, ...] = ()
    """For the same batches, had been said that a batch takes as long as the one before."""

    unsettled: tuple[float, ...] = ()
    """Of the model, for batches that began before a change of size had settled."""

    looks: int = 0
    same_decisions: int = 0
    """Looks at which deciding again gave the size and the reason of the journal."""


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
    lists = {name: tuple(errors) for name, errors in by_kind.items()}
    return Prediction(**lists, looks=looks, same_decisions=same)


def together(several: Iterable[Prediction]) -> Prediction:
    """Return the errors of several days as those of one."""
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
    """Return the error, without sign, that a share of the batches stays within; None without
    batches.
    """
    off = [abs(error) for error in errors]
    return float(np.quantile(off, share)) if off else None


def _errors(now: Observation, before: Memory, after: Memory) -> dict[str, float]:
    """Return the errors of the batch that this look saw first; nothing where there is none, or no
    model yet.
    """
    old, new = State.from_json(before), State.from_json(after)
    known = identified(old.batches)
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
