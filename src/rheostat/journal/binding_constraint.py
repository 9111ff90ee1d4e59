"""The constraint that sets the size instead of the policy, or makes more executors useless."""

from __future__ import annotations

from rheostat.model import GuardChange, Record

GUARDS = {
    "bounds": "floor or ceiling",
    "budget": "slot-hour budget",
    "cooldown": "cooldown",
    "excluded_periods": "excluded period",
    "over_provisioning": "over-provisioning",
    "real_time": "slots of a real-time batch",
    "receiver_room": "room for receivers",
    "reversal": "a reversed scale-in",
    "schedule": "schedule",
    "stabilization": "stabilization window",
    "stale_data": "stale data",
    "step_limits": "step limit",
    "shadow": "shadow mode",
    "turns": "a second writer of the size",
    "undo": "undo of an ineffective scale-out",
}
"""Descriptions of the guards."""


def applied_guard(record: Record) -> GuardChange | None:
    """Return the guard that set the target of a record; None if the policy set it.

    A later guard may change what an earlier one allowed, so the last change counts.
    """
    if not record.raw or not record.guards or record.raw.target == record.target:
        return None
    return next(
        (change for change in reversed(record.guards) if change.after == record.target), None
    )


def binding_constraint(record: Record) -> str | None:
    """Return a description of what limits the size at a tick; None if nothing does."""
    if record.rescaling.phase == "blocked":
        return f"the cluster: {record.rescaling.detail}"
    change = applied_guard(record)
    if change is not None:
        before, after = change.before, change.after
        name = GUARDS.get(change.guard, change.guard.replace("_", " "))
        if change.guard == "bounds":
            name = "ceiling" if before > after else "floor"
        return f"{name}: {before} executors wanted, {after} allowed"
    binds = record.raw.evidence.get("binds") if record.raw else None
    return f"{binds}: more executors would not help" if binds else None
