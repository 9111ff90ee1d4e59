"""Derives the rescalings and the events of a job from its records, with stable keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from rheostat.journal.binding_constraint import applied_guard
from rheostat.model import GuardChange, Record

SCHEMA = 1
LOUD = ("rescale", "advice", "halted", "resumed", "failed", "blocked")
"""The kinds of events that are sent as messages; the remaining kind, ``keep``, is only logged."""


def action_of(record: Record) -> str:
    """Return ``scale_out``, ``scale_in``, ``keep``, or ``none`` without a decision."""
    if record.target is None:
        return "none"
    if record.size in (None, record.target):
        return "keep"
    return "scale_out" if record.target > (record.size or 0) else "scale_in"


def reason_class(record: Record) -> str:
    """Return what determined the target of a record: ``policy``, the name of a guard, ``cluster``,
    or the resource that binds; without a target, the phase.
    """
    if record.target is None:
        return record.rescaling.phase
    if guard := applied_guard(record):
        return guard.guard
    if record.rescaling.phase == "blocked":
        return "cluster"
    return str((record.raw.evidence.get("binds") if record.raw else None) or "policy")


class EventStream:
    """Returns an event whenever a record differs from the previous one."""

    def __init__(self) -> None:
        self._phase = ""
        self._target: int | None = None
        self._class = ""

    def next(self, record: Record) -> dict[str, Any] | None:
        """Return the event of the next record; None if nothing relevant changed."""
        before = self._target if self._target is not None else record.size
        kind = self._kind(record, before)
        self._phase, self._class = record.rescaling.phase, reason_class(record)
        if record.target is not None:
            self._target = record.target
        return _event(kind, record, before) if kind else None

    def _kind(self, record: Record, before: int | None) -> str:
        phase = record.rescaling.phase
        if phase != self._phase and phase in ("halted", "failed", "blocked"):
            return phase
        if record.target is not None and before is not None and record.target != before:
            return "advice" if phase in NOT_EXECUTED else "rescale"
        if self._phase == "halted" and phase != "halted":
            return "resumed"
        return "keep" if record.target is not None and reason_class(record) != self._class else ""


def _event(kind: str, record: Record, before: int | None) -> dict[str, Any]:
    observed = record.observation
    return {
        "schema": SCHEMA,
        "event": kind,
        "time": datetime.fromtimestamp(record.t_s, timezone.utc).isoformat(),
        "application": observed.application if observed else None,
        "executors": observed.executors if observed else None,
        "before": before,
        "target": record.target,
        "wanted": record.raw.target if record.raw else None,
        "action": action_of(record),
        "reason_class": reason_class(record),
        "reason": reason_of(record),
        "phase": record.rescaling.phase,
        "detail": record.rescaling.detail,
    }


NOT_EXECUTED = ("advised", "halted", "idle")


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the target at ``t_s`` (Unix seconds) from ``before`` to ``after`` executors."""

    t_s: float
    before: int
    after: int
    reason: str


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
            changes.append(
                Change(t_s=record.t_s, before=size, after=record.target, reason=reason_of(record))
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
