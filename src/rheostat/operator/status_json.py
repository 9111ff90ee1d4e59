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
            type=each["type"],
            true=each["status"] == "True",
            reason=each.get("reason", ""),
            message=each.get("message", ""),
        )
        for each in read.get("conditions", ())
    )
    names = {camel(each.name): each.name for each in fields(Status) if each.name != "conditions"}
    known = {names[name]: value for name, value in read.items() if name in names}
    return Status(**known, conditions=conditions)


def status_json(status: Status, before: Mapping[str, Any], now: str) -> dict[str, Any]:
    """Return the JSON to write over ``before``; None removes a field (a merge patch)."""
    said: dict[str, Any] = {
        camel(each.name): getattr(status, each.name)
        for each in fields(status)
        if each.name != "conditions"
    }
    since = {
        (each["type"], each["status"]): each.get("lastTransitionTime", now)
        for each in before.get("conditions", ())
    }
    said["conditions"] = [
        {
            "type": each.type,
            "status": (true := "True" if each.true else "False"),
            "reason": each.reason,
            "message": each.message,
            "observedGeneration": status.observed_generation,
            "lastTransitionTime": since.get((each.type, true), now),
        }
        for each in status.conditions
    ]
    return said
