"""The rescalings of a run: each executed change of target, with its reason (DESIGN: how we keep
score).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rheostat.model import Evidence, Record

_NOT_EXECUTED = ("advised", "halted", "idle")


@dataclass(frozen=True, slots=True)
class Change:
    """At ``t_s`` (Unix seconds) the target went from ``before`` to ``after`` executors."""

    t_s: float
    before: int
    after: int
    reason: str
    evidence: Evidence


def rescalings(records: Sequence[Record]) -> list[Change]:
    """Return the executed changes of target in their order; advice is none."""
    found: list[Change] = []
    size: int | None = None
    for record in records:
        if (
            record.target is None
            or record.observation is None
            or record.rescaling.phase in _NOT_EXECUTED
        ):
            continue
        size = record.observation.size if size is None else size
        if size is not None and record.target != size:
            evidence = record.raw.evidence if record.raw else {}
            found.append(
                Change(
                    t_s=record.t_s,
                    before=size,
                    after=record.target,
                    reason=reason_of(record),
                    evidence=evidence,
                )
            )
        size = record.target
    return found


def reason_of(record: Record) -> str:
    """Return why the target is what it is, in words: the policy's, or the last guard's that changed
    it.
    """
    if record.guards:
        return record.guards[-1].reason
    return record.raw.reason if record.raw else record.rescaling.detail
