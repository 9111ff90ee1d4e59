"""Reconciles each application with its resource, on events and periodically."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rheostat.control.driver_report import Report
from rheostat.errors import BadInput
from rheostat.operator.driver_pod import driver_of, driver_pod
from rheostat.operator.observed import (
    Condition,
    Driver,
    Observed,
    Since,
    Status,
    UnappliedSizes,
    status_json,
    status_of,
)
from rheostat.operator.operator_ports import ApiError, Cluster, ControlApis, Endpoint
from rheostat.operator.reconcile import (
    Action,
    Adopt,
    Clear,
    Drain,
    Outcome,
    SendSizing,
    Start,
    Stop,
    invalid,
    mirrored,
    reconcile,
)
from rheostat.operator.streaming_application import Application, application_of

_log = logging.getLogger("rheostat")
_SOON_S = 1.0
_FRESH_S = 1.0
_SECRET_S = 30.0
Body = Mapping[str, Any]


class Controller:
    """Keeps the latest resources and driver pods; fetches and writes all other state.

    It reconciles a resource on changes, every ``round_s`` seconds, and every second in transitions.
    """

    def __init__(
        self,
        cluster: Cluster,
        drivers: ControlApis,
        round_s: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._control = drivers
        self._round_s = round_s
        self._sizes, self._runs = Since(clock), Since(clock)
        self._unapplied = UnappliedSizes(clock)
        self._secrets: dict[tuple[str, str], tuple[float, Mapping[str, str]]] = {}
        self._bodies: dict[str, Body] = {}
        self._wanted: dict[str, Application | BadInput] = {}
        self._pods: dict[str, Body] = {}
        self._written: dict[str, Status] = {}
        self._reports: dict[str, tuple[float, Report]] = {}
        self._wakes: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def update(self, body: Body, gone: bool = False) -> None:
        """Record the current version of a resource, and reconcile it if its spec has changed."""
        uid = body["metadata"]["uid"]
        if gone or body["metadata"].get("deletionTimestamp"):
            self._forget(uid)
            return
        known, self._bodies[uid] = self._bodies.get(uid), body
        if known is None or known.get("spec") != body.get("spec"):
            self._wanted[uid] = wanted = _read(body)
            if isinstance(wanted, Application):
                self._sizes.update(uid, wanted.sizing.size)
                self._unapplied.record(
                    uid, wanted.sizing.mode, (body.get("spec") or {}).get("replicas")
                )
        if uid not in self._tasks:
            self._wakes[uid] = asyncio.Event()
            self._tasks[uid] = asyncio.create_task(self._keep(uid))
        elif known is None or known.get("spec") != body.get("spec"):
            self._wakes[uid].set()  # the operator's own status writes do not trigger this

    def update_pod(self, pod: Body, gone: bool = False) -> None:
        """Record the current version of a driver's pod."""
        uid = pod["metadata"]["uid"]
        before = self._pods.pop(uid, None)
        if not gone:
            self._pods[uid] = pod
        if gone or before is None or driver_of(before) != driver_of(pod):
            for item, wanted in self._wanted.items():
                if isinstance(wanted, Application) and _has(pod, wanted):
                    self._wakes[item].set()

    def close(self) -> None:
        """Stop reconciling all resources; every job keeps running."""
        for uid in list(self._tasks):
            self._forget(uid)

    async def report(self, namespace: str, name: str) -> Report | None:
        """Return the current report of an application's driver; None if it is unavailable."""
        for uid, body in self._bodies.items():
            meta = body["metadata"]
            if (meta["namespace"], meta["name"]) == (namespace, name):
                at_s, known = self._reports.get(uid, (0.0, None))
                if known and time.monotonic() - at_s < _FRESH_S:
                    return known
                wanted = self._wanted[uid]
                if isinstance(wanted, BadInput):
                    return None
                observed = await self._observe(uid, wanted)
                return None if observed.rival else observed.report
        return None

    def _forget(self, uid: str) -> None:
        for kept in (self._bodies, self._wanted, self._written, self._reports, self._wakes):
            kept.pop(uid, None)
        self._sizes.forget(uid)
        self._runs.forget(uid)
        self._unapplied.forget(uid)
        task = self._tasks.pop(uid, None)
        if task:
            task.cancel()

    async def _keep(self, uid: str) -> None:
        """Reconcile repeatedly; errors are logged and retried in the next round."""
        while uid in self._bodies:
            wait_s = self._round_s
            self._wakes[uid].clear()
            try:
                if await self._look(uid):
                    wait_s = min(_SOON_S, self._round_s)
            except asyncio.CancelledError:
                raise
            except Exception as fault:
                _log.warning("rheostat: %s: %s", uid, " ".join(str(fault).split())[:300])
            wake = self._wakes.get(uid)
            if wake is None:
                return
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(wake.wait(), wait_s)

    async def _look(self, uid: str) -> bool:
        """Reconcile once; return whether a change is in progress."""
        body = self._bodies[uid]
        status = self._written.get(uid) or status_of(body.get("status") or {})
        wanted = self._wanted[uid]
        if isinstance(wanted, BadInput):
            generation = body["metadata"].get("generation", 1)
            await self._write(uid, body, status, invalid(status, generation, str(wanted)))
            return False
        outcome = reconcile(wanted, status, await self._observe(uid, wanted))
        await self._write(uid, body, status, outcome)
        replicas = (body.get("spec") or {}).get("replicas")
        actions = (*outcome.actions, *mirrored(wanted.sizing.mode, replicas, outcome.status))
        for action in actions:
            await self._do(wanted, body, action)
        calm = outcome.status.phase in ("steady", "advised", "idle", "halted")
        return bool(actions) or not calm

    async def _write(self, uid: str, body: Body, before: Status, outcome: Outcome) -> None:
        if outcome.status == before and uid in self._written:
            return
        known = body.get("status") or {}
        merge_patch = status_json(outcome.status, known, _now())
        if outcome.status != status_of(known):
            meta = body["metadata"]
            await self._cluster.write_status(meta["namespace"], meta["name"], merge_patch)
        self._written[uid] = outcome.status
        if before.target and outcome.status.target not in (None, before.target):
            sizes = f"{before.target} to {outcome.status.target} executors"
            message = ": ".join(filter(None, (sizes, outcome.status.reason)))
            await self._cluster.tell(body, "Normal", "Rescaled", message)
        ready, old = _ready(outcome.status), _ready(before)
        if ready and (old is None or (old.true, old.reason) != (ready.true, ready.reason)):
            kind = "Normal" if ready.true else "Warning"
            await self._cluster.tell(body, kind, ready.reason, ready.message)

    async def _observe(self, uid: str, wanted: Application) -> Observed:
        drivers = self._drivers(wanted)
        rival = self._rival(uid, wanted, drivers)
        running = [driver for driver in drivers if driver.serves]
        if rival or len(running) != 1:
            return Observed(drivers=drivers, rival=rival)
        observed = Observed(
            drivers=drivers,
            stood_s=self._sizes.update(uid, wanted.sizing.size),
            ran_s=self._runs.update(uid, running[0].uid),
            unapplied_size=self._unapplied.size(uid),
        )
        try:
            report = await self._control.ask(await self._endpoint(running[0], wanted))
        except ApiError as error:
            return replace(observed, silence=str(error), silence_reason=error.reason)
        self._reports[uid] = (time.monotonic(), report)
        return replace(observed, report=report)

    async def _endpoint(self, driver: Driver, wanted: Application) -> Endpoint:
        """Return a driver's address and credentials; its Secret is cached for ``_SECRET_S``."""
        address = f"{driver.ip}:{wanted.control_port}"
        if wanted.secret is None:
            return Endpoint(address=address)
        key = (wanted.namespace, wanted.secret)
        read_s, values = self._secrets.get(key, (float("-inf"), {}))
        if time.monotonic() - read_s > _SECRET_S:
            values = await self._cluster.secret(*key)
            self._secrets[key] = time.monotonic(), values
        name = f"{wanted.name}.{wanted.namespace}.svc"
        token, ca = values.get("token", "").strip(), values.get("ca.crt")
        return Endpoint(address=address, token=token or None, ca=ca, name=name)

    def _drivers(self, wanted: Application) -> tuple[Driver, ...]:
        drivers = [driver_of(pod) for pod in self._pods.values() if _has(pod, wanted)]
        return tuple(sorted(drivers, key=lambda driver: driver.name))

    def _rival(self, uid: str, wanted: Application, drivers: tuple[Driver, ...]) -> str | None:
        """Return the name of an older resource (by time, then UID) that shares a driver."""
        own = _age(self._bodies[uid])
        pods = [self._pods[driver.uid] for driver in drivers]
        for other, theirs in self._wanted.items():
            if other == uid or isinstance(theirs, BadInput):
                continue
            shared = any(_has(pod, theirs) for pod in pods)
            if shared and _age(self._bodies[other]) < own:
                return theirs.name
        return None

    async def _do(self, wanted: Application, body: Body, action: Action) -> None:
        namespace, name = wanted.namespace, wanted.name
        if isinstance(action, Adopt):
            self._unapplied.writes(body["metadata"]["uid"], action.replicas)
            await self._cluster.write_scale(namespace, name, action.replicas)
        elif isinstance(action, Start):
            await self._cluster.start(driver_pod(wanted, action.incarnation, action.size))
            await self._cluster.tell(body, "Normal", "Started", f"{action.size} executors")
        elif isinstance(action, Stop):
            await self._cluster.stop(namespace, action.name, action.uid)
        elif isinstance(action, Clear):
            await self._cluster.stop(namespace, action.name, action.uid)
            message = (
                f"the pod of {action.name} is deleted, its successor runs; it ended: {action.end}"
            )
            await self._cluster.tell(body, "Normal", "Cleared", message)
        else:
            await self._send(wanted, body, action)

    async def _send(self, wanted: Application, body: Body, action: SendSizing | Drain) -> None:
        drivers = [driver for driver in self._drivers(wanted) if driver.serves]
        if len(drivers) != 1:
            return
        try:
            endpoint = await self._endpoint(drivers[0], wanted)
            if isinstance(action, Drain):
                await self._control.drain(endpoint)
            else:
                await self._control.direct(endpoint, action.sizing)
        except ApiError as error:
            await self._refused(body, error)

    async def _refused(self, body: Body, error: ApiError) -> None:
        """Report in the condition why the driver was not updated; the next round retries."""
        uid = body["metadata"]["uid"]
        status = self._written[uid]
        ready = Condition(type="Ready", true=False, reason=error.reason, message=str(error))
        others = tuple(condition for condition in status.conditions if condition.type != "Ready")
        outcome = Outcome(replace(status, conditions=(ready, *others)))
        await self._write(uid, {**body, "status": status_json(status, {}, _now())}, status, outcome)


def _ready(status: Status) -> Condition | None:
    return next((condition for condition in status.conditions if condition.type == "Ready"), None)


def _read(body: Body) -> Application | BadInput:
    """Return the application of a resource, or the error in it."""
    try:
        return application_of(body)
    except BadInput as wrong:
        return wrong


def _has(pod: Body, wanted: Application) -> bool:
    meta = pod["metadata"]
    labels = meta.get("labels") or {}
    return meta.get("namespace") == wanted.namespace and wanted.labels.items() <= labels.items()


def _age(body: Body) -> tuple[str, str]:
    return body["metadata"].get("creationTimestamp", ""), body["metadata"]["uid"]


def _now() -> str:
    return dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
