"""The status of the resource as JSON, and back; a condition keeps its time while its truth does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from rheostat.operator.observed import Condition, Status
from rheostat.operator.streaming_application import camel


def status_of(read: Mapping[str, Any]) -> Status:
    """Return the status of a resource's JSON; what it does not know is skipped."""
    conditions = tuple(
        Condition(
            type=condition["type"],
            true=condition["status"] == "True",
            reason=condition.get("reason", ""),
            message=condition.get("message", ""),
        )
        for condition in read.get("conditions", ())
    )
    names = {
        camel(option.name): option.name for option in fields(Status) if option.name != "conditions"
    }
    known = {names[name]: value for name, value in read.items() if name in names}
    return Status(**known, conditions=conditions)


def status_json(status: Status, before: Mapping[str, Any], now: str) -> dict[str, Any]:
    """Return the JSON to write over ``before``; None removes a field (a merge patch)."""
    patch: dict[str, Any] = {
        camel(option.name): getattr(status, option.name)
        for option in fields(status)
        if option.name != "conditions"
    }
    since = {
        (condition["type"], condition["status"]): condition.get("lastTransitionTime", now)
        for condition in before.get("conditions", ())
    }
    patch["conditions"] = [
        {
            "type": condition.type,
            "status": (true := "True" if condition.true else "False"),
            "reason": condition.reason,
            "message": condition.message,
            "observedGeneration": status.observed_generation,
            "lastTransitionTime": since.get((condition.type, true), now),
        }
        for condition in status.conditions
    ]
    return patch
