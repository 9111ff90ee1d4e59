"""The rescalings of a run: each executed change of the target, with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rheostat.model import Evidence, GuardChange, Record

NOT_EXECUTED = ("advised", "halted", "idle")


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the target at ``t_s`` (Unix seconds) from ``before`` to ``after`` executors."""

    t_s: float
    before: int
    after: int
    reason: str
    evidence: Evidence


def rescalings(records: Sequence[Record]) -> list[Change]:
    """Return the executed changes of the target in order; advice does not count."""
    changes: list[Change] = []
    size: int | None = None
    for record in records:
        if (
            record.target is None
            or record.observation is None
            or record.rescaling.phase in NOT_EXECUTED
        ):
            continue
        # Compared with the last target, not the current size, because executors take time to
        # register.
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
    """Return the reason of the target: what the policy wanted, then what each guard allowed;
    without a decision, the progress of the rescaling.
    """
    if record.raw is None:
        return record.rescaling.detail
    allowed = (f"allowed {change.after} ({why})" for change, why in allowances(record))
    return "; ".join([f"wanted {record.raw.target}: {record.raw.reason}", *allowed])


def allowances(record: Record) -> list[tuple[GuardChange, str]]:
    """Return the guards that changed the target, with their names and own parts of the reason."""
    reasons, before = [], record.raw.reason if record.raw else ""
    for change in record.guards:
        own = change.reason.removeprefix(before).removeprefix("; ")
        reasons.append((change, f"{change.guard}: {own}"))
        before = change.reason
    return reasons
