"""The operator's observation of an application, with the history of its sizes, and its status."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from rheostat.control.driver_report import Report
from rheostat.operator.streaming_application import camel
from rheostat.protocols.size_in_force import ConflictHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """A driver's pod; ``incarnation`` and ``size`` are our annotations, ``end`` how it ended."""

    name: str
    uid: str
    ip: str | None = None
    running: bool = True
    ended: bool = False
    leaving: bool = False
    incarnation: int = 0
    size: int | None = None
    end: str = ""

    @property
    def serves(self) -> bool:
        """Whether it runs and is not being deleted."""
        return self.running and not self.leaving


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The present state: driver pods by label, the driver's report or error, an older ``rival``.

    ``stood_s`` is how long the resource's size has been unchanged, ``ran_s`` how long the driver
    has been running, both in seconds. ``unapplied_size`` is a size that another controller
    keeps writing without effect.
    """

    drivers: tuple[Driver, ...] = ()
    report: Report | None = None
    silence: str = ""
    silence_reason: str = "NoAnswer"
    rival: str | None = None
    stood_s: float = math.inf
    ran_s: float = math.inf
    unapplied_size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition of the resource's status."""

    type: str
    true: bool
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The resource's status, which persists between reconciliations.

    ``replicas`` are registered executors; ``incarnation`` numbers the operator's driver, whose
    initial size is ``started_at``; ``restarting_to`` is the next size; ``last_end`` is how the last
    driver ended.
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
    """Return the status in a resource's JSON; unknown fields are ignored."""
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
    """Return the merge patch over ``before``, in which None removes a field."""
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
            "status": str(condition.true),
            "reason": condition.reason,
            "message": condition.message,
            "observedGeneration": status.observed_generation,
            "lastTransitionTime": since.get((condition.type, str(condition.true)), now),
        }
        for condition in status.conditions
    ]
    return patch


class Since:
    """Keeps a value per key with the time of its last change; ``clock`` returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[Hashable, tuple[object, float]] = {}

    def update(self, key: Hashable, value: object) -> float:
        """Record the current value; return for how many seconds it has been unchanged."""
        now = self._clock()
        known = self._kept.get(key)
        if known is None or known[0] != value:
            known = self._kept[key] = (value, now)
        return now - known[1]

    def forget(self, key: Hashable) -> None:
        """Remove the value of a key."""
        self._kept.pop(key, None)


class UnappliedSizes:
    """Records, by resource UID, our last write to ``replicas`` and the conflicting writes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._written: dict[str, int | None] = {}
        self._conflicts: dict[str, ConflictHistory] = {}

    def writes(self, uid: str, replicas: int) -> None:
        """Record a size that the operator is about to write."""
        self._written[uid] = replicas

    def record(self, uid: str, mode: str, replicas: int | None) -> None:
        """Record the current size in a resource."""
        if mode == "external" or uid not in self._written:
            # A size from before the operator's first write is not a conflict.
            self.forget(uid)
            return
        if replicas is None or replicas == self._written[uid]:
            return
        self._conflicts[uid] = self._conflicts.get(uid, ConflictHistory()).recorded(
            replicas, self._clock()
        )

    def size(self, uid: str) -> int | None:
        """Return the size that another controller keeps writing; None if there is none."""
        conflict = self._conflicts.get(uid)
        return conflict.size if conflict and conflict.is_conflict(self._clock()) else None

    def forget(self, uid: str) -> None:
        """Remove the records of a resource."""
        self._written.pop(uid, None)
        self._conflicts.pop(uid, None)
