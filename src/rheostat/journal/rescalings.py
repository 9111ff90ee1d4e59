"""The rescalings of a run: each executed change of target, with its reason (DESIGN: how we keep
score).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rheostat.model import Evidence, GuardChange, Record

NOT_EXECUTED = ("advised", "halted", "idle")


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
    changes: list[Change] = []
    size: int | None = None
    for record in records:
        if (
            record.target is None
            or record.observation is None
            or record.rescaling.phase in NOT_EXECUTED
        ):
            continue
        # Against the last target, not the size that is there: executors take a while to come.
        size = record.observation.size if size is None else size
        if size is not None and record.target != size:
            evidence = record.raw.evidence if record.raw else {}
            changes.append(
                Change(
                    t_s=record.t_s,
                    before=size,
                    after=record.target,
                    reason=reason_of(record),
                    evidence=evidence,
                )
            )
        size = record.target
    return changes


def reason_of(record: Record) -> str:
    """Return why the target is what it is: what the policy wanted, then what each guard allowed of
    it; where nothing was decided, where the rescaling stands.
    """
    if record.raw is None:
        return record.rescaling.detail
    allowed = (f"allowed {change.after} ({why})" for change, why in allowances(record))
    return "; ".join([f"wanted {record.raw.target}: {record.raw.reason}", *allowed])


def allowances(record: Record) -> list[tuple[GuardChange, str]]:
    """Return the guards that changed the target, each with its name and its own reason: a guard
    appends that to the reason before it, which is left out.
    """
    reasons, before = [], record.raw.reason if record.raw else ""
    for change in record.guards:
        own = change.reason.removeprefix(before).removeprefix("; ")
        reasons.append((change, f"{change.guard}: {own}"))
        before = change.reason
    return reasons
