"""The operator's decisions as a pure function of the resource and the observed state, including the
pod backend of the restart protocol.

It follows the four steps of Varga et al. (section 3.1): observe (``Observed``), update the status,
compute the desired state, apply it (``actions``). The status is written before the actions are
applied, so that an operator that restarts in between continues.

| the driver | and | then |
|---|---|---|
| can be scaled | has another sizing | send the sizing: it moves state and scales live |
| is halted, or paused | | send the sizing; no restart |
| cannot be scaled; ours | has another size than wanted | restart: drain, stop, start the next |
| has ended; ours | its successor has an executor | delete its pod |
| ours, of the current incarnation | does not exist | start it |
| another owner's, cannot be scaled | | only set a condition |
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from rheostat.control.driver_report import Report
from rheostat.control.sizing import Sizing
from rheostat.operator.observed import Condition, Driver, Observed, Status
from rheostat.operator.streaming_application import Application
from rheostat.protocols.restart import RESTART, RestartFacts, RestartOrder


@dataclass(frozen=True, slots=True)
class Adopt:
    """Write the effective size to the scale sub-resource."""

    replicas: int


@dataclass(frozen=True, slots=True)
class SendSizing:
    """Send the sizing to the driver, which moves state and scales if live scaling is possible."""

    sizing: Sizing


@dataclass(frozen=True, slots=True)
class Drain:
    """Let the driver's queries end at a batch boundary."""

    uid: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Delete the driver's pod with this UID, and no other of the same name."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Start:
    """Create the driver's pod; an existing pod of this incarnation counts as created."""

    incarnation: int
    size: int


@dataclass(frozen=True, slots=True)
class Clear:
    """Delete the pod of an ended driver that has a successor; ``end`` is how it ended."""

    name: str
    uid: str
    end: str


Action = Adopt | SendSizing | Drain | Stop | Start | Clear


STOOD_S, RAN_S = 10.0, 60.0
"""Seconds for which the size must be unchanged, and the driver running, before a restart. A restart
interrupts a job for about half a minute, so two conflicting writers must not cause any. An HPA
decides every 15 s; Koper (4.6) waits 120 s after a change of a job that restarts.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The status to write first, then the actions in this order."""

    status: Status
    actions: tuple[Action, ...] = ()


def invalid(status: Status, generation: int, wrong: str) -> Outcome:
    """Return the outcome for an invalid resource: a condition; the job keeps running."""
    conditions = (
        Condition(type="Ready", true=False, reason="Invalid", message=wrong),
        Condition(type="Valid", true=False, reason="Invalid", message=wrong),
    )
    return Outcome(replace(status, observed_generation=generation, conditions=conditions))


def reconcile(wanted: Application, status: Status, observed: Observed) -> Outcome:
    """Return the status and the next actions; idempotent, without actions in the desired state."""
    status = replace(status, observed_generation=wanted.generation)
    if observed.rival:
        message = f"the driver belongs to {observed.rival}, which is older; delete one of the two"
        return _unready(status, "TwoResources", message)
    if wanted.template is not None:
        return _own_driver_outcome(wanted, status, observed)
    running = [driver for driver in observed.drivers if driver.serves]
    if len(running) != 1:
        labels = ",".join(f"{name}={value}" for name, value in sorted(wanted.labels.items()))
        reason = "SeveralDrivers" if running else "NoDriver"
        message = f"{len(running)} running pods have the labels {labels}"
        return _unready(status, reason, message)
    return _live(wanted, status, observed)


def _own_driver_outcome(wanted: Application, status: Status, observed: Observed) -> Outcome:
    """Return the outcome for a driver that the operator creates itself."""
    limits = wanted.sizing.limits
    least = limits.min_executors if limits else 1
    if not status.incarnation:
        status = replace(status, incarnation=1, started_at=wanted.sizing.size or least)
    driver = _driver(status, observed)
    if status.restarting_to is not None:
        order = _restart_order(driver, observed.report)
        if order is not RestartOrder.START:
            return _restarting(status, driver, observed.report, order)
        status = replace(
            status,
            last_end=_last_end(wanted.name, status, driver),
            incarnation=status.incarnation + 1,
            started_at=status.restarting_to,
            target=status.restarting_to,
            restarting_to=None,
        )
        driver = _driver(status, observed)
    if driver is None:
        start = Start(status.incarnation, _first_size(wanted.sizing, status, least))
        return _unready(status, "Starting", f"starting with {start.size} executors", (start,))
    if driver.ended:
        return _unready(status, "Ended", f"the driver {driver.name} has ended on its own")
    if not driver.serves:
        return _unready(status, "Starting", f"the driver {driver.name} is not running yet")
    outcome = _live(wanted, status, observed)
    size, report = _size(wanted.sizing), observed.report
    halted = wanted.sizing.paused or (report is not None and report.halted)
    if report and not report.can_scale and size and not halted:
        other = size != (driver.size or status.started_at)
        wait = _wait(other, status, observed)
        if wait:
            return _unready(outcome.status, "Waiting", wait, outcome.actions)
        if other:
            status = replace(status, restarting_to=size)
            return _restarting(status, driver, report, _restart_order(driver, report))
    return replace(outcome, actions=(*outcome.actions, *_cleared(status, observed)))


def _driver(status: Status, observed: Observed) -> Driver | None:
    """Return the operator's current driver; None if its pod does not exist."""
    ours = (driver for driver in observed.drivers if driver.incarnation == status.incarnation)
    return next(ours, None)


def _restart_order(driver: Driver | None, report: Report | None) -> RestartOrder | None:
    """Return the next order of the protocol for a restart in progress; None if it must wait."""
    phase = "stopping" if driver and driver.leaving else "draining"
    while row := RESTART.step(phase, _restart_facts(phase, driver, report)):
        if row.order:
            return row.order
        phase = row.to
    return None


def _restart_facts(phase: str, driver: Driver | None, report: Report | None) -> RestartFacts:
    """Return the restart facts from a driver's pod and control API. A drained driver is stopped at
    once; one that does not answer cannot be drained.
    """
    state: Literal["alive", "ended"] = "ended" if driver and driver.ended else "alive"
    return RestartFacts(
        process="none" if driver is None else state,
        acknowledged=report is None or report.draining,
        drained=report is not None and report.drained,
        limit_s=-1.0 if phase == "stopping" and driver and not driver.leaving else math.inf,
    )


def _first_size(sizing: Sizing, status: Status, least: int) -> int:
    """Return the size of a missing driver: its initial size or, if larger, its last size within the
    limits, so that losing a node at peak load does not make the job small.
    """
    last = status.target or 0
    if sizing.limits is not None:
        last = min(last, sizing.limits.max_executors)
    return max(status.started_at or least, last)


def _wait(other: bool, status: Status, observed: Observed) -> str:
    """Return why a restart must wait; empty if it need not."""
    waited = any(condition.reason == "Waiting" for condition in status.conditions)
    if (other or waited) and observed.stood_s < STOOD_S:
        return f"a size must be unchanged for {STOOD_S:g} s before the driver is restarted for it"
    if other and observed.ran_s < RAN_S:
        return f"a driver must run for {RAN_S:g} s before it is restarted at another size"
    return ""


def _last_end(name: str, status: Status, driver: Driver | None) -> str:
    last = f"{name}-driver-{status.incarnation} for {status.restarting_to} executors"
    return f"{last}: {driver.end}" if driver and driver.end else f"{last}: drained and stopped"


def _cleared(status: Status, observed: Observed) -> tuple[Action, ...]:
    """Return the deletions of ended drivers' pods, once their successor has an executor."""
    if not (observed.report and observed.report.executors):
        return ()
    before = [driver for driver in observed.drivers if driver.ended and not driver.leaving]
    return tuple(
        Clear(item.name, item.uid, item.end)
        for item in before
        if 0 < item.incarnation < status.incarnation
    )


def _restarting(
    status: Status, driver: Driver | None, report: Report | None, order: RestartOrder | None
) -> Outcome:
    """Return the outcome of a restart whose next driver is not started yet."""
    if driver is None or driver.leaving:
        message = f"the driver stops, to restart with {status.restarting_to} executors"
        return _unready(status, "Stopping", message)
    if order is RestartOrder.STOP:
        stop = Stop(driver.name, driver.uid)
        return _unready(status, "Stopping", "its batches are complete", (stop,))
    if report is None:
        message = "the driver does not answer, so it cannot be drained"
        return _unready(status, "Draining", message)
    drain = (Drain(driver.uid),) if order is RestartOrder.DRAIN else ()
    return _unready(status, "Draining", "waiting for its batches to complete", drain)


def _live(wanted: Application, status: Status, observed: Observed) -> Outcome:
    """Return the outcome for a running driver: send its sizing and adopt its report."""
    report = observed.report
    if report is None:
        silence = observed.silence or "the driver is silent"
        return _unready(status, observed.silence_reason, silence)
    status = replace(
        status,
        replicas=report.executors if report.executors is not None else status.replicas,
        target=report.target,
        selector=_executors(report) or status.selector,
        phase=report.phase,
        reason=report.reason,
    )
    actions: list[Action] = []
    sizing, in_force = wanted.sizing, report.target
    if sizing.mode == "external" and sizing.size is None and in_force:
        sizing = replace(sizing, size=in_force)
        actions.append(Adopt(in_force))
    if report.sizing != sizing:
        actions.append(SendSizing(sizing))
    if report.halted:
        reason = "Paused" if sizing.paused else "Halted"
        return _unready(status, reason, report.detail, tuple(actions), phase=report.phase)
    if not report.can_scale and sizing.mode != "shadow":
        message = f"live scaling is not possible: {'; '.join(report.cannot)}"
        return _unready(status, "CannotScale", message, tuple(actions), phase=report.phase)
    if report.contested and sizing.mode == "external":
        contested = report.contested
        return _unready(status, "Contested", contested, tuple(actions), phase=report.phase)
    reason, message = "Sized", _sizing_text(sizing)
    if observed.unapplied_size is not None and sizing.mode != "external":
        unapplied = _unapplied_text(observed.unapplied_size, sizing.mode)
        reason, message = "ScaleUnread", f"{message}; {unapplied}"
    ready = Condition(type="Ready", true=True, reason=reason, message=message)
    valid = Condition(type="Valid", true=True, reason="Valid")
    return Outcome(replace(status, conditions=(ready, valid)), tuple(actions))


def mirrored(mode: str, replicas: int | None, status: Status) -> tuple[Action, ...]:
    """Return the action that writes a differing effective size to the scale sub-resource."""
    follows = mode != "external" and status.target and status.target != replicas
    return (Adopt(status.target),) if follows and status.target else ()


def _unready(
    status: Status,
    reason: str,
    message: str,
    actions: tuple[Action, ...] = (),
    phase: str | None = None,
) -> Outcome:
    conditions = (
        Condition(type="Ready", true=False, reason=reason, message=message),
        Condition(type="Valid", true=True, reason="Valid"),
    )
    shown = reason.lower() if phase is None else phase
    return Outcome(replace(status, conditions=conditions, phase=shown), actions)


def _size(sizing: Sizing) -> int | None:
    """Return the externally requested size, within the limits."""
    if sizing.mode != "external" or sizing.size is None or sizing.limits is None:
        return sizing.size if sizing.mode == "external" else None
    return max(sizing.limits.min_executors, min(sizing.limits.max_executors, sizing.size))


def _executors(report: Report) -> str | None:
    """Return the selector of the executors' pods, by the labels that Spark sets."""
    if report.application is None:
        return None
    return f"spark-app-selector={report.application},spark-role=executor"


def _unapplied_text(size: int, mode: str) -> str:
    return (
        f"another controller keeps writing {size} into scale, which has no effect in the mode"
        f" {mode}: delete that HPA (kubectl get hpa), or set mode: external"
    )


def _sizing_text(sizing: Sizing) -> str:
    if sizing.mode == "external":
        return f"sized from outside: {sizing.size} executors" if sizing.size else "no size yet"
    by = sizing.policy or "the driver's own policy"
    return (
        f"sized by {by}" if sizing.mode == "policy" else f"recommended by {by}; nothing is changed"
    )
