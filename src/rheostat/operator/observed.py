"""What the operator observes of an application, and the resource's status, also as JSON: values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from rheostat.control.driver_report import Report
from rheostat.operator.streaming_application import camel


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """A driver's pod; ``incarnation`` and ``size`` are what the operator wrote on its own ones;
    ``end`` describes how it has ended.
    """

    name: str
    uid: str
    ip: str | None = None
    running: bool = True
    ended: bool = False
    leaving: bool = False
    incarnation: int = 0
    size: int | None = None
    end: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What is there at this moment: the driver's pods by their labels, the answer of the agent, or
    why there is none; ``rival`` is an older resource that has the same driver.

    ``stood_s`` is for how long the size in the resource has been the same, ``ran_s`` for how long
    the driver has been seen to run: by a clock that nobody sets, from 0 at the operator's start.
    ``unread`` is the size that another controller keeps writing although it has no effect.
    """

    drivers: tuple[Driver, ...] = ()
    report: Report | None = None
    silence: str = ""
    silence_reason: str = "NoAnswer"
    rival: str | None = None
    stood_s: float = math.inf
    ran_s: float = math.inf
    unread: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One line of truth in the status."""

    type: str
    true: bool
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the resource's status keeps between two reconciliations; nothing else is remembered.

    ``replicas`` is the latest number of registered executors. ``incarnation`` is the number of
    the operator's own driver that is to run, ``started_at`` the size that it is started with;
    ``restarting_to`` is the size for which the one before is drained and stopped; ``last_end`` says
    how the last of its drivers ended that has a successor.
    """

    observed_generation: int = 0
    replicas: int | None = None
    target: int | None = None
    selector: str | None = None
    phase: str = ""
    reason: str = ""
    incarnation: int = 0
    started_at: int | None = None
    restarting_to: int | None = None
    last_end: str | None = None
    conditions: tuple[Condition, ...] = ()


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
